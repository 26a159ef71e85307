// The pages of the commands that only work on a store.

extension Help {
    static let patience = """
          --patience D           how long a call waits for other writers of a file
                                 (default 5s), or for a server (default 30s)
        """

    private static let storeOptions = """
          --store URL            sqlite:PATH, a file; postgres://USER@HOST/DATABASE,
                                 where lull schema has prepared the database; or
                                 redis://HOST/DATABASE
          --namespace NAME       which of its namespaces (default: default)
        \(patience)

        """

    static let submit = """
        Usage: lull submit --store URL [OPTION…] KEY [VALUE|-]

        Submits a value to a store, and returns when the value has been recorded. From
        then on it will be executed: by any lull work, run or filter with that store, or
        by an app. If VALUE is missing, the value is empty. With - it is all of standard
        input, up to 16 MiB of any bytes, and is not visible in the list of processes.

        \(storeOptions)
          --after D              the delay of this call alone
          --token TOKEN          submits with the same token count once
          --json                 print the receipt: the key, the generation (which
                                 grows with each submit of the key) and dueIn (the
                                 delay in seconds)

        The first use of a namespace must give its policy, with --wait or --throttle.
        Later uses may leave the policy out.

        \(policy)
        \(changePolicy)
        A key or value that begins with - comes after --; one that is - itself comes
        from standard input: printf %s - | lull submit … KEY -

        Examples:
          lull submit --store sqlite:hooks.db --wait 5s --max-wait 1m repo-7 '{"n":1}'
          curl -s "$url" | lull submit --store sqlite:hooks.db repo-7 -
          lull submit --store postgres://app@db/shop --namespace mails order-17 '{}'

        """

    static let work = """
        Usage: lull work --store URL [OPTION…] -- COMMAND [ARG…]

        Runs COMMAND for values that fall due in a store, until a signal ends it. Any
        number of workers may share a store. Arguments and environment are as for lull
        run. LULL_RUN is the same in every attempt at a run, and LULL_ATTEMPT counts the
        attempts. LULL_FENCE grows with each attempt, so that a stale attempt can be
        recognized. Each value on standard input has a terminator (a newline, or with
        --null a NUL byte), even if it was submitted without one; {value} is the exact
        value.

          --store URL            sqlite:PATH, a file, created if a policy is given;
                                 postgres://USER@HOST/DATABASE, prepared by lull
                                 schema; or redis://HOST/DATABASE
          --namespace NAME       the namespace to work on (default: default)
        \(patience)
          --jobs N               run at most N commands at once (default: one per core)
          --lease D              another process takes over the runs of this one after D
                                 without a heartbeat (default 30s)
          --max-attempts N       a run is dead after N failed attempts (default 20); an
                                 attempt whose worker died counts
          --kill-after D         how long after SIGTERM a command that is stopped gets
                                 SIGKILL (default 5s)
          --null                 records for COMMAND end in a NUL byte
          --fail-fast            end when a command has failed

        The first use of a namespace must give its policy, with --wait or --throttle.
        Later uses may leave the policy out.

        \(policy)
        \(changePolicy)
        After SIGINT or SIGTERM, no more runs are claimed. Running commands have half of
        the lease to end; runs that have not ended then go back to the store.

        Example:
          lull work --store sqlite:hooks.db -- ./rebuild {key}

        """

    static let changePolicy = """
        All users of a namespace share its policy. An option that is not given keeps its
        value. One that differs from the policy is an error, except with:
          --change-policy        change the policy for all users, from the next submit
                                 on. Only durations, counts and the delay rule can
                                 change, not the kind (debounce or throttle), --edges
                                 or --combine

        """

    static let status = """
        Usage: lull status --store URL [--namespace NAME] [OPTION…]

        Counts, for each namespace, the keys with a value that is pending, ready (due,
        and waiting for a worker), running, or retrying (waiting for another attempt),
        and the dead runs. Also prints how long the oldest work that could run has been
        waiting, which grows if there is no worker. Of a PostgreSQL database it also
        prints how many dead rows wait for vacuum, and how long the oldest transaction
        is open that keeps vacuum from removing them; of a Redis server its durability,
        and how much memory its data takes. Changes nothing.

        \(patience)
          --json                 print a JSON object for each namespace, one a line
          --format openmetrics   print metrics in the OpenMetrics text format
          --watch                print the status every second; on a terminal, in place
          --fail-if LIMITS       exit with status 1 if a namespace exceeds one of these
                                 limits, such as 'oldest>60s,dead>0': any columns of
                                 the table, with a comma between them

        Examples:
          lull status --store sqlite:hooks.db --fail-if 'oldest>60s,dead>0'

          cd /var/lib/node_exporter
          lull status --store sqlite:/srv/hooks.db --format openmetrics > lull.new &&
            mv lull.new lull.prom

        """

    static let list = """
        Usage: lull list --store URL [OPTION…] [KEY…]

        Lists the keys that have work, in byte order, or the given ones. For each it
        prints the state of the work (running, retrying, ready, pending), when it is
        due, how many submits are behind it, and the number of the attempt. Changes
        nothing.

        With --ended it lists what has become of submits, the newest first: completed,
        failed (and replaced by a newer value), cancelled, absorbed (by the window of a
        leading value) or dead, with the error. A store retains that for a day, or for
        ten minutes on a Redis server, and dead runs until they are retried or
        discarded.

        \(storeOptions)
          --ended                list what has ended: the newest 100, or --limit
          --limit N              list the first N only
          --watch                print the first keys every second; on a terminal, in
                                 place, as many as it has lines for, elsewhere 20
          --json                 print a JSON object for each, one a line; for an end
                                 with the generations that have ended, as in the
                                 receipts of lull submit

        The exit status is 1 if there is nothing to list of a KEY.

        """

    static let flush = """
        Usage: lull flush --store URL [OPTION…] [KEY…]

        Makes values due now that are pending or wait for another attempt: those of the
        given keys, or of all keys. Returns when that is recorded; workers do the rest.
        Prints how many keys were flushed.

        \(storeOptions)
          --json                 print the number in a JSON object

        The exit status is 1 if a KEY had no such value. The others are still flushed.

        """

    static let cancel = """
        Usage: lull cancel --store URL [OPTION…] [KEY…]

        Drops the values that no worker has claimed: those of the given keys, or of all
        keys. Running values are not touched. Prints how many submits were dropped.

        \(storeOptions)
          --json                 print the number in a JSON object

        The exit status is 1 if a KEY had no such value. The others are still cancelled.

        """

    static let dead = """
        Usage: lull dead list    --store URL [--namespace NAME] [--json]
               lull dead retry   --store URL [--namespace NAME] RUN…|--all
               lull dead discard --store URL [--namespace NAME] RUN…|--all

        A run is dead when all of its attempts have failed. The store keeps it with its
        values, and its key goes on without it. list shows the 1000 oldest dead runs;
        with --json also their values. retry gives a run another series of attempts,
        ahead of newer values of its key. It is refused while the key has another run,
        and, with --combine latest, if the key has had a newer value since. discard
        deletes a run. The exit status is 1 if a run could not be retried or discarded,
        or if --all found none.

          --all                  retry or discard all dead runs of the namespace
        \(patience)

        """

    static let workers = """
        Usage: lull workers --store URL [OPTION…]

        Lists the workers of a namespace, of lull work, lull filter, lull run and of
        programs with the library: the machine and the process of each, the runs that it
        holds, and how long ago it said that it is there. It does so every minute; one
        that is silent for longer than that has been stopped, or cannot reach the store.
        A worker is listed for 150 seconds after its last word, and as long as it has
        runs. Those whose lease has expired go to the next worker that asks.

        \(storeOptions)
          --json                 print a JSON object for each, one a line

        """

    static let forget = """
        Usage: lull forget --store URL --namespace NAME [OPTION…]

        Deletes a namespace: its policy, and what has become of its submits. It can be
        used again, with any policy. A namespace with work or dead runs stays, and the
        exit status is 1: work it off or drop it (lull cancel), and retry or discard
        dead runs (lull dead) before.

        End what uses the namespace first. A worker that goes on fails, or, with a Redis
        server, makes the namespace again.

        \(storeOptions)
        Example:
          lull forget --store sqlite:hooks.db --namespace hoks

        """

    static let compact = """
        Usage: lull compact --store sqlite:PATH

        Returns the unused space of a file to the file system, and prints how much. A
        file does not shrink by itself: its free space is reused for later work.
        Workers and producers go on meanwhile: the space is moved a little at a time,
        and they can write in between. The command may be ended at any time.

        A file from before such small steps were possible is rewritten once. That needs
        as much space again, and no other process can write meanwhile: about a second
        for each 100 MB in use.

          --patience D           how long it waits for other writers (default 5s)

        Example:
          lull compact --store sqlite:hooks.db

        """

    static let schema = """
        Usage: lull schema --store postgres://… [--apply]

        Prints the SQL that brings a PostgreSQL database to the schema of this version
        of LullPostgres, for review or for a tool of your own; nothing if it has that
        schema. The database is URL's, as libpq reads it; schema=NAME in it is the name
        of the schema, lull if it is not given. A password need not be in it: libpq also
        takes it from PGPASSWORD or from ~/.pgpass.

          --apply                run the SQL, in one transaction

        The role owns the schema. It must be allowed to create it, and needs no
        superuser. Other roles get their rights from the function lull.allow.

        Examples:
          lull schema --store postgres://app@db/shop --apply
          lull schema --store 'postgres://app@db/shop?schema=queue' > lull.sql

        """

    static let adopt = """
        Usage: lull adopt --store postgres://…

        Lets workers use a copy of a database: one that was restored from a dump, on any
        server and under any name, or created from a template. They refuse to until
        then: the original may still be at work, and both would run the same. Make sure
        that it is not used any more, or that the copy's work is meant to be done twice.

        Example:
          lull adopt --store postgres://app@db/shop

        """
}
