// The pages of the commands that work on records and traces, and of those that explain.

extension Help {
    static let duration: HelpPage.Part =
        "A duration D is a number with a unit: 500ns, 250us, 300ms, 1.5s, 2m, 1h, 3d, 1h30m."

    static let policy: HelpPage.Part = .group([.heading("Policy"), .options([.policy]), duration])

    private static let records: HelpPage.Part = .group([
        .heading("Records"), .options([.records]),
        """
        A record is a line. Only records with the same key are coalesced. If no option gives a key, all records have \
        the same one.
        """,
    ])

    private static let durable: HelpPage.Part = .group([
        .heading("Pending work that survives a crash, a kill or a reboot"), .options([.store, .change, .lease]),
        """
        With a store, the policy may be left out if the namespace has one. --at-end flush and drop affect only values \
        that this process alone has submitted and that are not due yet.
        """,
    ])

    static let filter = HelpPage(
        "filter", "OPTION…", "passes on the last record of a burst",
        usage: ["lull filter (--wait D | --throttle D) [OPTION…] < RECORDS"],
        [
            """
            Copies records from standard input to standard output: of each burst only the last record, as soon as the \
            burst is over.
            """,
            policy, records, .heading("Output"), .options([.output]), durable,
            "SIGINT and SIGTERM end the input. A second signal ends the program at once.",
            .examples([
                "tail -F app.log | lull filter --throttle 1s",
                "mosquitto_sub -v -t 'home/#' | lull filter --wait 2s --key-field 1",
                "events | lull filter --wait 1s --key-json /user --format jsonl",
                "states | lull filter --wait 1s --key-json /id --combine merge-json",
            ]),
        ])

    static let run = HelpPage(
        "run", "OPTION… -- COMMAND [ARG…]", "runs COMMAND when a burst is over",
        usage: ["lull run (--wait D | --throttle D) [OPTION…] -- COMMAND [ARG…] < RECORDS"],
        [
            """
            Runs COMMAND when a burst of records is over. The last record of the burst is on its standard input, with \
            its terminator. In the arguments, {key}, {value} (the last record), {count} and {edge} are replaced; \
            {{key}} is a literal {key}. The environment has LULL_KEY, LULL_COUNT and LULL_EDGE, and with --store also \
            LULL_RUN, LULL_ATTEMPT, LULL_FENCE and LULL_CONTEXT. COMMAND is started without a shell and without a \
            terminal. In a program of sh -c, which would execute what is in {key}, write "$LULL_KEY".
            """,
            policy, records, .heading("Commands"), .options([.commands, .output]), durable,
            """
            At the end, lull waits for all commands. SIGINT and SIGTERM end the input. A second signal kills the \
            commands. When lull has ended, for whatever reason, everything that the commands have started ends too.
            """,
            """
            The exit status is 1 if a command failed, 126 if COMMAND cannot be executed, and 127 if it cannot be \
            found. With --store, a command that ends with status 75 asks for its run again later, which is no failure; \
            with 65 it gives its run up. See lull work --help.
            """,
            .examples([
                "inotifywait -me modify src | lull run --wait 1s --while-running cancel -- make",
                "events | lull run --throttle 1m --key-field 1 -- notify {key} '{count} times'",
                "paths | lull run --wait 1s --max-wait 9s --combine collect -- xargs upload",
            ]),
        ])

    static let simulate = HelpPage(
        "simulate", "OPTION… TRACE", "tries a policy on a recorded trace",
        usage: ["lull simulate (--wait D | --throttle D) [OPTION…] TRACE"],
        [
            """
            Replays a recorded trace in virtual time, and reports what would have been executed. TRACE is a file, or - \
            for standard input. It is JSON Lines, ordered by time:
            """,
            .literal([#"{"at":12.5,"key":"lamp","value":7}"#]),
            """
            "at" is a number of seconds, or an RFC 3339 time. "key" and "value" are any JSON. Two more members are \
            optional: "op" is "submit" (default), "touch" ("still busy", without a value), "flush" or "cancel", and \
            the last two are for all keys if there is no "key"; "wait", such as "500ms", is the delay of this submit \
            or touch alone.
            """,
            policy,
            .heading("Executions"), .options([.commands]),
            .heading("Output"), .options([.output]),
            .examples([
                "lull simulate --wait 300ms trace.jsonl",
                "lull simulate --throttle 1s --format jsonl trace.jsonl | head",
                "zcat trace.jsonl.gz | lull simulate --wait 2s --max-wait 10s -",
                "lull simulate --wait 2s --run-time 9s --while-running restart trace.jsonl",
            ]),
        ])

    static let tune = HelpPage(
        "tune", "[OPTION…] TRACE", "suggests a wait for a recorded trace", usage: ["lull tune [OPTION…] TRACE"],
        [
            """
            Replays a recorded trace (see lull simulate --help) with many waits at once. It shows what each of them \
            costs and saves, as debounce and (without --spacing) as throttle, and suggests one of each. Without a \
            target it suggests the knee: up to that wait, more waiting saves much; beyond it, little. For a trace of \
            fewer than 20 submits, or with all submits at one instant, it suggests nothing.
            """,
            .options([.tuning]),
            .likewise(.policy, "the rest of the policy, as for lull simulate"),
            .options([.output]),
            .heading("Columns of the tables"),
            .terms([
                ("debounce, throttle", "the wait of the debounce, the interval of the throttle"),
                ("*", "efficient: no other wait saves as much with less delay"), ("<", "the suggestion"),
                ("executions", "how often the work would have been done"),
                ("saved", "the share of submits that needed no execution"),
                (
                    "after last",
                    "the delay from the last submit behind an execution to it, as percentiles: p50/p90/p99, or "
                        + "fewer if they do not fit the terminal"
                ),
                ("after first", "the same delay from the first submit"),
                (
                    "premature",
                    "executions that the next submit of the burst followed within the wait (or within --spacing), "
                        + "so that their value did not last"
                ),
                ("longest", "the longest time from a first submit to its execution"),
            ]),
            .examples([
                "lull tune typing.jsonl", "lull tune --target-saving 90% --max-wait 10s typing.jsonl",
                "zcat trace.jsonl.gz | lull tune --waits 1s..1m --by-key -",
            ]),
        ])

    static let top = HelpPage(
        "top", "PATH", "looks into a running program", usage: ["lull top [OPTION…] PATH"],
        [
            """
            Shows the debouncers and throttlers of a program that runs, the busiest first, until a signal comes or the \
            program ends: on a terminal in place, elsewhere one table after the other, one a second. The program links \
            LullInspection, and was started with LULL_INSPECT=PATH. Only its user, and root, can look.
            """,
            """
            With --page it serves a page instead, and tells its address: the same table, with a time line of what \
            waits, runs and has run, and the outcomes of each. While nobody has the page open, the program is left \
            alone.
            """,
            .options([.own, .output]), .heading("Columns of the table"),
            .terms([
                ("where", "the file and the line that made it"), ("keys", "its keys that are remembered"),
                ("pend", "the submits that are pending, or due and waiting to start"),
                ("due", "how long until the first of them is due"), ("run", "the executions that are running"),
                ("in/s, out/s", "submits and executions a second, since the table before"),
                ("save", "the share of all its submits that have needed no execution so far"),
                ("fail", "the submits whose handler has thrown"), ("policy", "its policy, as options of lull"),
            ]),
            .examples(["LULL_INSPECT=/tmp/app.sock ./app & lull top /tmp/app.sock", "lull top --page /tmp/app.sock"]),
        ])

    static let completions = HelpPage(
        "completions", "bash|zsh|fish", "prints completions for a shell", usage: ["lull completions bash|zsh|fish"],
        [
            """
            Prints a script with which a shell completes commands, options and their values. make install puts the \
            scripts where the shells look for them. To use one that is not installed:
            """,
            .terms([
                ("bash", "source <(lull completions bash), in ~/.bashrc"),
                ("zsh", "lull completions zsh > _lull, in a folder of $fpath"),
                ("fish", "lull completions fish | source, in config.fish"),
            ]),
        ])

    static let manual = HelpPage(
        "man", "[COMMAND]", "prints a page of the manual", usage: ["lull man [COMMAND] > FILE"],
        [
            """
            Prints the manual page of a command, or of lull as a whole, in the format that man reads. make install \
            puts all of them where man finds them.
            """,
            .terms([("--list", "print the names of the commands that have a page")]),
        ])

    static let versions = HelpPage(
        "version", "", "prints versions, also of libraries", usage: ["lull version"],
        [
            """
            Prints the version of lull, and those of the libraries with which it opens stores: SQLite for files, libpq \
            for PostgreSQL, hiredis for Redis and Valkey. A library that cannot be loaded is reported as missing; the \
            others work without it. lull --version prints the first line alone.
            """
        ])
}
