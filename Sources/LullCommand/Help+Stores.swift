// What `--help` says of the commands that have only a store to do with.

extension Help {
    private static let place = """
          --store sqlite:PATH    the file
          --namespace NAME       which of its namespaces (default: default)

        """

    static let submit = """
        Usage: lull submit --store sqlite:PATH [OPTION…] KEY VALUE|-

        Hands a value to a store, and ends when it has been recorded: from then on it
        will be executed, by any lull work, run or filter at that store, or by an app.
        With - the value is all that standard input has, up to 16 MiB, whatever its
        bytes: nobody sees it among the processes. An empty value is given as "".

        \(place)
          --after D              the delay of this call alone
          --token TOKEN          names this submit: repeated with the same token, it
                                 counts once
          --json                 print the receipt; its generation counts the submits
                                 of the key

        The first use of a namespace says its policy; later ones may leave it out.

        \(policy)
        \(change)
        A key or value that begins with - comes after --; one that is - itself comes
        from standard input: printf %s - | lull submit … KEY -

        Examples:
          lull submit --store sqlite:hooks.db --wait 5s --max-wait 1m repo-7 '{"n":1}'
          curl -s "$url" | lull submit --store sqlite:hooks.db repo-7 -

        """

    static let work = """
        Usage: lull work --store sqlite:PATH [OPTION…] -- COMMAND [ARG…]

        Runs COMMAND for what falls due in a store, until a signal ends it. Any number
        of these may work on one file. Arguments and environment are as for lull run;
        LULL_RUN is the same in every attempt at a run, LULL_ATTEMPT counts them, and
        LULL_FENCE grows from each attempt to the next, so that a stale one can be told.
        On COMMAND's standard input each value has its terminator, a newline or with
        --null a NUL byte, also if it was submitted without one; {value} as an argument
        has the exact bytes.

          --store sqlite:PATH    the file; made if a policy is given
          --namespace NAME       what to work on (default: default)
          --jobs N               run at most N commands at once (default: one a core)
          --lease D              how long a run is this process's without a sign of
                                 life (default 30s)
          --max-attempts N       how often a run that fails is tried (default 20); an
                                 attempt whose worker died counts
          --kill-after D         how long a command that is stopped has after SIGTERM
                                 until SIGKILL (default 5s)
          --null                 records for COMMAND end in a NUL byte
          --fail-fast            end when a command has failed

        The first use of a namespace says its policy; later ones may leave it out.

        \(policy)
        \(change)
        SIGINT and SIGTERM: nothing more is claimed, running commands have half of the
        lease to end, and what they leave goes back to the store.

        Example:
          lull work --store sqlite:hooks.db -- ./rebuild {key}

        """

    static let change = """
        Everybody who uses a namespace shares its policy. What is not given is as it is
        there; what differs is refused:
          --change-policy        change it for everybody, from the next submit on: the
                                 durations, counts and the delay rule. --wait or
                                 --throttle, --edges and --combine never change

        """

    static let status = """
        Usage: lull status --store sqlite:PATH [--namespace NAME] [OPTION…]

        Says for each namespace how many keys have a value that is pending, ready (due,
        and waiting for a worker), running, or waiting for another attempt, how many
        runs are dead, and for how long the oldest ready value has been due. Changes
        nothing.

          --json                 an object for each namespace, in a line
          --format openmetrics   for what collects or scrapes metrics
          --watch                say it every second, on a terminal always in the same
                                 place

        Example:
          cd /var/lib/node_exporter
          lull status --store sqlite:/srv/hooks.db --format openmetrics > lull.new &&
            mv lull.new lull.prom

        """

    static let list = """
        Usage: lull list --store sqlite:PATH [OPTION…]

        Shows the keys that have something to do, in the order of their bytes: what
        state it is in (running, retrying, ready, pending), when it is due, how many
        submits are behind it, and which attempt it has come to. Changes nothing.

        \(place)
          --json                 an object for each key, in a line

        """

    static let flush = """
        Usage: lull flush --store sqlite:PATH [OPTION…] [KEY…]

        Makes due now what is pending or waits for another attempt: of these keys, or
        of all. It ends when that is recorded; workers do the rest. Says how many keys
        had something.

        \(place)
          --json                 say it as an object

        The status is 1 if a KEY had nothing; the others are flushed all the same.

        """

    static let cancel = """
        Usage: lull cancel --store sqlite:PATH [OPTION…] [KEY…]

        Drops what no worker has: of these keys, or of all. What is running is not
        touched. Says how many submits were dropped.

        \(place)
          --json                 say it as an object

        The status is 1 if a KEY had nothing; the others are cancelled all the same.

        """

    static let dead = """
        Usage: lull dead list    --store sqlite:PATH [--namespace NAME] [--json]
               lull dead retry   --store sqlite:PATH [--namespace NAME] RUN…|--all
               lull dead discard --store sqlite:PATH [--namespace NAME] RUN…|--all

        A run whose every attempt has failed is dead: it is kept with its values, and
        no longer blocks its key. It can be forgotten, or be given another series of
        attempts, ahead of anything newer of its key: unless the key has another run
        now, or, with --combine latest, has had a newer value since. list shows the
        oldest 1000; --json with the values. retry and discard say how many runs they
        changed. The status is 1 if a run
        could not be retried or discarded, or if --all found none.

          --all                  retry or discard all dead runs of the namespace

        """
}
