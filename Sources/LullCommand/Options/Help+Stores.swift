// The pages of the commands that only work on a store.

extension Help {
    private static let options: HelpPage.Part = .options([.store, .output, .own])

    private static let firstUse: HelpPage.Part = """
        The first use of a namespace must give its policy, with --wait or --throttle. Later uses may leave the policy \
        out.
        """

    private static let sharedPolicy: HelpPage.Part = .group([
        policy,
        """
        All users of a namespace share its policy. An option that is not given keeps its value. One that \
        differs from the policy is an error, except with:
        """, .options([.change]),
    ])

    static let submit = HelpPage(
        "submit", "--store URL KEY [VALUE|-]", "submits a value to a store",
        usage: ["lull submit --store URL [OPTION…] KEY [VALUE|-]"],
        [
            """
            Submits a value to a store, and returns when the value has been recorded. From then on it will be \
            executed: by any lull work, run or filter with that store, or by an app. If VALUE is missing, the value is \
            empty. With - it is all of standard input, up to 16 MiB of any bytes, and is not visible in the list of \
            processes.
            """, options, firstUse, sharedPolicy,
            """
            A key or value that begins with - comes after --; one that is - itself comes from standard input: printf \
            %s - | lull submit … KEY -
            """,
            .examples([
                #"lull submit --store sqlite:hooks.db --wait 5s --max-wait 1m repo-7 '{"n":1}'"#,
                #"curl -s "$url" | lull submit --store sqlite:hooks.db repo-7 -"#,
                "lull submit --store postgres://app@db/shop --namespace mails order-17 '{}'",
            ]),
        ])

    static let work = HelpPage(
        "work", "--store URL -- COMMAND…", "runs COMMAND for values that are due",
        usage: ["lull work --store URL [OPTION…] -- COMMAND [ARG…]"],
        [
            """
            Runs COMMAND for values that fall due in a store, until a signal ends it. Any number of workers may share \
            a store. Arguments and environment are as for lull run. LULL_RUN is the same in every attempt at a run, \
            and LULL_ATTEMPT counts the attempts. LULL_FENCE grows with each attempt, so that a stale attempt can be \
            recognized. LULL_CONTEXT is the --context of the submit, if it had one. Each value on standard input has a \
            terminator (a newline, or with --null a NUL byte), even if it was submitted without one; {value} is the \
            exact value.
            """, .options([.store, .commands, .lease, .records]), firstUse, sharedPolicy,
            """
            COMMAND may say what is to become of its run. Status 75 snoozes it: it is run again after the backoff, and \
            no attempt is spent. Status 65 gives it up: it is dead, and not tried again. A line on descriptor 3 (its \
            number is in LULL_ANSWER) says when, and counts more than the status: "retry-after: 30s" after a failure, \
            or "snooze: 5m".
            """,
            """
            After SIGINT or SIGTERM, no more runs are claimed. Running commands have half of the lease to end; runs \
            that have not ended then go back to the store.
            """,
            .examples(["lull work --store sqlite:hooks.db -- ./rebuild {key}"]),
        ])

    static let status = HelpPage(
        "status", "--store URL", "counts the work in a store",
        usage: ["lull status --store URL [--namespace NAME] [OPTION…]"],
        [
            """
            Counts, for each namespace, the keys with a value that is pending, ready (due, and waiting for a worker), \
            running, or retrying (waiting for another attempt), and the dead runs. Also prints how long the oldest \
            work that could run has been waiting, which grows if there is no worker. Of a PostgreSQL database it also \
            prints how many dead rows wait for vacuum, and how long the oldest transaction is open that keeps vacuum \
            from removing them; of a Redis server its durability, and how much memory its data takes. Of a paused \
            namespace it prints for how long it has been paused, and why. Changes nothing.
            """, options,
            .examples([
                "lull status --store sqlite:hooks.db --fail-if 'oldest>60s,dead>0'", "",
                "cd /var/lib/node_exporter",
                "lull status --store sqlite:/srv/hooks.db --format openmetrics > lull.new &&",
                "  mv lull.new lull.prom",
            ]),
        ])

    static let list = HelpPage(
        "list", "--store URL", "lists keys, or what has ended",
        usage: ["lull list --store URL [OPTION…] [KEY…]"],
        [
            """
            Lists the keys that have work, in byte order, or the given ones. For each it prints the state of the work \
            (running, retrying, ready, pending), when it is due, how many submits are behind it, and the number of the \
            attempt. Changes nothing.
            """,
            """
            With --ended it lists what has become of submits, the newest first: completed, failed (and replaced by a \
            newer value), cancelled, absorbed (by the window of a leading value) or dead, with the error. A store \
            retains that for a day, or for ten minutes on a Redis server, and dead runs until they are retried or \
            discarded.
            """, options, "The exit status is 1 if there is nothing to list of a KEY.",
        ])

    static let touch = HelpPage(
        "touch", "--store URL KEY…", "postpones pending values: still busy",
        usage: ["lull touch --store URL [OPTION…] KEY…"],
        [
            """
            Says "still busy" for the given keys, without a value: what is pending waits as long as after a submit, \
            but no longer than --max-wait. Nothing else changes. With --throttle it has no effect. Prints how \
            many keys were touched.
            """, options,
            "The exit status is 1 if a KEY had no burst under way. The others are still touched.",
        ])

    private static let inSteps: HelpPage.Part = """
        With several conditions, all must be met. Much is done in steps, between which others submit and work. If it \
        is interrupted, the rest stays as it is: call it again.
        """

    static let flush = HelpPage(
        "flush", "--store URL [KEY…]", "makes pending values due now",
        usage: ["lull flush --store URL [OPTION…] [KEY…]"],
        [
            """
            Makes values due now that are pending or wait for another attempt: those of the given keys, or of all \
            keys, or of those that meet the conditions. Returns when that is recorded; workers do the rest. Prints how \
            many keys were flushed.
            """, options, inSteps,
            "The exit status is 1 if a KEY had no such value. The others are still flushed.",
            .examples(["lull flush --store sqlite:hooks.db --error 'HTTP 503'"]),
        ])

    static let cancel = HelpPage(
        "cancel", "--store URL [KEY…]", "drops values not yet claimed",
        usage: ["lull cancel --store URL [OPTION…] [KEY…]"],
        [
            """
            Drops the values that no worker has claimed: those of the given keys, or of all keys, or of those that \
            meet the conditions. Running values are not touched. Prints how many submits were dropped.
            """, options, inSteps,
            "The exit status is 1 if a KEY had no such value. The others are still cancelled.",
            .examples(["lull cancel --store sqlite:hooks.db --prefix test- --older-than 1h"]),
        ])

    static let dead = HelpPage(
        "dead", "list|retry|discard …", "handles runs that failed for good",
        usage: [
            "lull dead list    --store URL [--namespace NAME] [--json]",
            "lull dead retry   --store URL [--namespace NAME] RUN…|--all|OPTION…",
            "lull dead discard --store URL [--namespace NAME] RUN…|--all|OPTION…",
        ],
        [
            """
            A run is dead when all of its attempts have failed. The store keeps it with its values, and its key goes \
            on without it. list shows the 1000 oldest dead runs; with --json also their values. retry gives a run \
            another series of attempts, ahead of newer values of its key. It is refused while the key has another run, \
            and, with --combine latest, if the key has had a newer value since. discard deletes a run. The exit status \
            is 1 if a run could not be retried or discarded, or if none was found.
            """, options, inSteps,
            .examples(["lull dead retry --store sqlite:hooks.db --error 'HTTP 503' --older-than 10m"]),
        ])

    static let workers = HelpPage(
        "workers", "--store URL", "lists the processes that work", usage: ["lull workers --store URL [OPTION…]"],
        [
            """
            Lists the workers of a namespace, of lull work, lull filter, lull run and of programs with the library: \
            the machine and the process of each, how many runs it holds, and how long ago it was seen. A worker \
            reports to the store every minute; one that was last seen longer ago has been stopped, or cannot reach the \
            store. A worker is listed for 150 seconds after its last report, and as long as it has runs. Runs whose \
            lease has expired go to the next worker that asks.
            """, options,
        ])

    static let pause = HelpPage(
        "pause", "--store URL", "lets workers begin nothing new",
        usage: ["lull pause --store URL [--reason TEXT] [--for D] [OPTION…]"],
        [
            """
            Pauses a namespace: its workers, wherever they run, begin nothing new until lull resume, or with --for \
            until that time is over. What they have begun goes on to its end. Submits are recorded, values fall due \
            and wait, and flush, cancel and dead work as always. For a time in which what the commands need is down.
            """,
            """
            lull status shows the pause, and lull work says once that there is one. A namespace that is paused already \
            stays so since the first time. Of two pauses the longer one counts, with its reason; one without --for \
            lasts longest. A reason is cut after 500 characters.
            """, options,
            .examples([
                "lull pause --store sqlite:hooks.db --reason 'the API is down until 15:00'",
                "lull pause --store sqlite:hooks.db --for 60s --reason '429 Too Many Requests'",
            ]),
        ])

    static let resume = HelpPage(
        "resume", "--store URL", "ends a pause", usage: ["lull resume --store URL [OPTION…]"],
        [
            """
            Ends the pause of a namespace: its workers go on at once, with what has waited longest. A namespace that \
            was not paused is no error.
            """, options,
        ])

    static let serve = HelpPage(
        "serve", "--store URL", "HTTP: submits, a page and metrics",
        usage: ["lull serve --store URL [OPTION…]"],
        [
            """
            Serves a store by HTTP until a signal ends it. GET / is a page: what is pending, until when, what runs, \
            what is dead, and what has been saved. GET /metrics is lull status for Prometheus, and GET /health answers \
            200 while the store does.
            """,
            """
            POST /v1/NAMESPACE/KEY submits the body, and is answered 202 with the receipt once it is recorded, never \
            before. Header Idempotency-Key: a repeated submit with the same one counts once. Lull-After: 5s is the \
            delay of this submit, and Lull-Context travels with it as LULL_CONTEXT. 400 says what is wrong, 401 and \
            403 who may not, 404 that there is no such namespace, 413 that the value is too large, 429 that the store \
            is full and 503 that it is away: nothing was recorded then, unless "unknown": true says that the answer \
            was lost; repeat it with the same Idempotency-Key.
            """, options,
            """
            Whoever reaches the socket or a loopback address is let in; any other address needs --token-file. Requests \
            that a page of another site has sent are refused. TLS is a proxy's.
            """,
            """
            A hook is a member of the object in --hooks: "/github": {"namespace": "ci", "key": \
            "/repository/full_name", "verify": "github", "secret-file": "/etc/lull/github"}. key is a JSON pointer; \
            without it, all events of the hook have one key. verify is github, stripe, slack, standard-webhooks, \
            bearer or none; secret-env names a variable instead of a file. An event that is delivered twice counts once.
            """,
            """
            It needs libmicrohttpd (libmicrohttpd12 on Debian, libmicrohttpd in Homebrew). After SIGTERM no more \
            requests are taken, and those under way are answered.
            """,
            .examples([
                "lull serve --store sqlite:hooks.db",
                "curl -d '{\"n\":1}' http://127.0.0.1:8385/v1/default/repo-7",
                "lull serve --store redis://db/1 --listen unix:/run/lull --hooks hooks.json",
            ]),
        ])

    static let forget = HelpPage(
        "forget", "--store URL", "deletes a namespace without work",
        usage: ["lull forget --store URL --namespace NAME [OPTION…]"],
        [
            """
            Deletes a namespace: its policy, and what has become of its submits. It can be used again, with any \
            policy. A namespace with work or dead runs stays, and the exit status is 1: finish or drop the work first \
            (lull cancel), and retry or discard the dead runs (lull dead).
            """,
            """
            Stop everything that uses the namespace first. A worker that continues ends with an error or, with a \
            Redis server, creates the namespace again.
            """, options, .examples(["lull forget --store sqlite:hooks.db --namespace hoks"]),
        ])

    static let compact = HelpPage(
        "compact", "--store URL", "returns unused space to the system",
        usage: ["lull compact --store sqlite:PATH"],
        [
            """
            Returns the unused space of a file to the file system, and prints how much. A file does not shrink by \
            itself: its free space is reused for later work. Workers and producers go on meanwhile: the space is moved \
            a little at a time, and they can write in between. The command may be ended at any time.
            """,
            """
            A file that an early version created is rewritten once. That needs as much space again, and \
            no other process can write meanwhile: about a second for each 100 MB in use.
            """, options, .examples(["lull compact --store sqlite:hooks.db"]),
        ])

    static let schema = HelpPage(
        "schema", "--store URL [--apply]", "prepares a database for LullPostgres",
        usage: ["lull schema --store postgres://… [--apply]"],
        [
            """
            Prints the SQL that brings a PostgreSQL database to the schema of this version of LullPostgres, for review \
            or for a tool of your own. It prints nothing if the database has that schema. libpq reads the URL; \
            schema=NAME in it names the schema (default: lull). The URL need not have a password: libpq also takes it \
            from PGPASSWORD or from ~/.pgpass.
            """, options,
            """
            The role owns the schema. It must be allowed to create it, and needs no superuser. Other roles get their \
            rights from the function lull.allow.
            """,
            .examples([
                "lull schema --store postgres://app@db/shop --apply",
                "lull schema --store 'postgres://app@db/shop?schema=queue' > lull.sql",
            ]),
        ])

    static let adopt = HelpPage(
        "adopt", "--store URL", "prepares a restored store for work",
        usage: ["lull adopt --store sqlite:PATH", "lull adopt --store postgres://…"],
        [
            """
            Prepares a store for work that was restored from a backup, or copied: from then on the numbers of its \
            runs, its fences and the generations of new keys are above all that the original can have given, so that \
            no receiver takes new work for work that it knows. Do so after each restore, before anything works \
            there.
            """,
            """
            Workers refuse a copy of a PostgreSQL database until then. Make sure that the original is not used any \
            more, or that the work of the copy is meant to be done twice.
            """, options,
            .examples(["lull adopt --store sqlite:hooks.db", "lull adopt --store postgres://app@db/shop"]),
        ])
}
