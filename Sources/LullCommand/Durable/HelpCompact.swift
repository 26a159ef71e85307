extension Help {
    static let compact = """
        Usage: lull compact --store sqlite:PATH

        Gives the space that a store needs no more back to the file system, and says how
        much. A file does not shrink by itself: what has become free in it is used for
        what comes. Workers and producers go on meanwhile: it moves a little at a time,
        and lets them write in between. It may be ended at any time.

        A file that was made before this could be done in small steps is written anew
        once. That takes as much space again, and nobody else can write meanwhile:
        about a second for each 100 MB that are in use.

        Example:
          lull compact --store sqlite:hooks.db

        """
}
