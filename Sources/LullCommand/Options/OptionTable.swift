internal import LullCore
internal import LullDurable
internal import LullTuning

extension Option {
    /// All options, in the order of pages and completions.
    static let all = [help] + policy + records + commands + output + store + tuning + own

    private static let help = Option("help", .help, of: Subcommand.allCases, \.asksForHelp, "explain this command")

    private static let policyOrTune = Subcommand.withPolicy + [.tune]

    private static let policy = [
        Option(
            "wait", .duration, \.wait, "debounce: execute when no value has come for D",
            stored: { $0.policy.kind == .debounce ? $0.policy.wait : nil }),
        Option(
            "throttle", .duration, \.throttle, "throttle: execute at most once every D; not with --wait",
            .excludes("wait"), stored: { $0.policy.kind == .throttle ? $0.policy.wait : nil }),
        Option(
            "max-wait", of: policyOrTune, .duration, \.maxWait, "with --wait: no value waits longer than D",
            .hasNoMeaningWith("throttle"), stored: { $0.policy.maxWait }),
        Option(
            "max-count", of: policyOrTune, .number, \.maxCount, "execute at once when N values are pending",
            stored: { $0.policy.maxCount }),
        Option(
            "spacing", of: policyOrTune, .duration, \.spacing,
            "with --wait: values of a key are due at least D apart", .hasNoMeaningWith("throttle"),
            stored: { $0.policy.spacing > .zero ? $0.policy.spacing : nil }),
        Option(
            "edges", of: policyOrTune, .edges, \.edges,
            "execute at the leading edge of a burst, the trailing edge, or both. "
                + "The default is trailing with --wait, and both with --throttle",
            stored: { $0.policy.edges }, default: { PolicyOptions.defaultEdges($0.policy.kind) }),
        Option(
            "delay-rule", of: policyOrTune,
            .choice("RULE", [("restart", DelayRule.restart), ("extend", .extend)]), \.delayRule,
            "whether a shorter delay replaces a longer one (restart, the default) or not (extend); for values with "
                + "delays of their own, from --after-field, --after-json, lull submit --after, or \"wait\" in a trace",
            .hasNoMeaningWith("throttle"), stored: { $0.policy.kind == .debounce ? $0.policy.delayRule : nil },
            default: { _ in .restart }),
        Option(
            "combine", .choice("RULE", CombineRule.allCases.map { ($0.rawValue, $0) }), \.combination,
            "what an execution gets of the values of a burst: the latest (default), the first, all of them "
                + "(collect), or all of them merged into one: merge-json, for values that are JSON objects",
            stored: { CombineRule($0) }, default: { _ in .latest }),
        Option(
            "max-batch", .number, \.maxBatch,
            "at most N values for one execution; the next one gets the rest. For --combine collect or merge-json",
            stored: { $0.maxBatch }),
        Option(
            "limit", of: policyOrTune, .rate, \.limit,
            "at most N executions start in any time of D, of all keys together, such as 40/1m; what may not start "
                + "waits",
            stored: { $0.limit.map { RateLimit(starts: $0.starts, period: $0.period, burst: 1) } }),
        Option(
            "burst", of: policyOrTune, .number, \.burst,
            "with --limit: up to N of them at once after a pause (default 1)", .needs("limit"),
            stored: { $0.limit?.burst }, default: { $0.limit == nil ? nil : 1 }),
        Option(
            "max-running", of: [.filter, .run, .submit, .work], .number, \.maxRunning,
            "with --store: at most N executions run at once, of all workers together", .needs("store"),
            stored: { $0.maxRunning }),
        Option(
            "while-running", of: Subcommand.withRuns, .whileRunning, \.whileRunning,
            "what happens to a value that falls due while a command of its key runs: queue (default) lets the value "
                + "wait, cancel stops the command, restart stops it and begins again with its values and the new one, "
                + "concurrent starts another one, and skip drops the value. With --store: queue or restart",
            but: [
                .simulate: "what happens to a value that falls due while an execution of its key runs: queue (default) "
                    + "lets it wait, cancel ends the execution, restart ends it and begins again with its values and "
                    + "the new one, concurrent starts another one, and skip drops the value",
                .submit: storedWhileRunning, .work: storedWhileRunning,
            ],
            .refuses(
                "combine collect", for: "cancel",
                "would lose values of --combine collect: use --while-running restart, or --combine latest"),
            .refuses(
                "combine merge-json", for: "cancel",
                "would lose values of --combine merge-json: use --while-running restart, or --combine latest"),
            .needs("run-time", in: [.simulate]),
            stored: { $0.whileRunning == .queue ? .queue : .restart }, default: { _ in .queue }),
        Option(
            "interrupt", of: Subcommand.withRuns,
            .choice("WHEN", [("due", Interruption.whenDue), ("submit", .whenSubmitted)]), \.interrupting,
            "with --while-running cancel or restart: when the new value is due (default), or at its submit",
            but: [.submit: storedInterrupt, .work: storedInterrupt],
            .needs("while-running", with: ["cancel", "restart"]),
            stored: { $0.whileRunning.interrupting },
            default: { $0.whileRunning == .queue ? nil : .whenDue }),
    ]

    private static let storedWhileRunning =
        "what happens to a value that falls due while a command of its key runs: queue (default) lets it wait, and "
        + "restart stops the command and begins again with its values and the new one"

    private static let storedInterrupt =
        "with --while-running restart: when the new value is due (default), or at its submit"

    private static let readers: [Subcommand] = [.filter, .run]

    private static let records = [
        Option(
            "null", .records, of: readers + [.work], \.endsWithNull, "records end in a NUL byte, not in a newline",
            but: [.work: "records for COMMAND end in a NUL byte"]),
        Option(
            "key-field", .records, of: readers, .field, \.keyField,
            "the key is the N-th field, from 1; blanks separate fields"),
        Option(
            "key-json", .records, of: readers, .pointer, \.keyPointer,
            "records are JSON, and the key is the value at a JSON pointer, such as /device/id",
            .excludes("key-field")),
        Option(
            "after-field", .records, of: readers, .field, \.afterField,
            "the N-th field is the delay of this record alone, such as 500ms; a throttle ignores it"),
        Option(
            "after-json", .records, of: readers, .pointer, \.afterPointer,
            "the same for JSON records: a string such as \"500ms\"", .excludes("after-field")),
        Option(
            "delimiter", .records, of: readers, .delimiter, \.delimiter,
            "C separates fields, not blanks (\\t is a tab)", .needs("key-field", "after-field")),
        Option(
            "max-keys", .records, of: readers, .number, \.maxKeys, "skip records that would open more than N keys",
            .hasNoMeaningWith("store")),
        Option("strict", .records, of: readers, \.isStrict, "end with status 65 at a bad record; do not skip it"),
        Option(
            "record", .records, of: readers, .file, \.recording,
            "write a trace of the input, for lull simulate and lull tune. It has the times, keys and delays. "
                + "FILE must not exist"),
        Option(
            "record-values", .records, of: readers, \.recordsValues, "with --record: write the values too",
            .needs("record")),
        Option(
            "hash-keys", .records, of: readers, \.hashesKeys, "with --record: replace each key by a number",
            .needs("record")),
    ]

    private static let commands = [
        Option(
            "run-time", .commands, of: [.simulate], .duration, \.runTime,
            "each execution takes D. jsonl then has started, ended and outcome"),
        Option(
            "kill-after", .commands, of: [.run, .work], .duration, \.killAfter,
            "how long after SIGTERM a command that is stopped gets SIGKILL (default 5s)"),
        Option(
            "time-limit", .commands, of: [.run, .work, .simulate], .positive, \.timeLimit,
            "a command that has run for D is stopped, and has failed if it then does not end with 0",
            but: [.simulate: "an execution that takes longer than D ends after D, and has failed"],
            .needs("run-time", in: [.simulate])),
        Option(
            "stop-signal", .commands, of: [.run, .work], .signal, \.stopSignal,
            "the signal that stops a command (default TERM)"),
        Option(
            "jobs", .commands, of: [.run, .work, .simulate], .number, \.jobs,
            "run at most N commands at once (default: one per core)",
            but: [.simulate: "at most N executions run at once (default: no limit)"],
            .needs("run-time", in: [.simulate])),
        Option(
            "fail-fast", .commands, of: [.run, .work], \.failsFast, "start no more commands after one has failed",
            but: [.work: "end when a command has failed"]),
        Option(
            "snooze-status", .commands, of: [.run, .work], .status, \.snoozeStatus,
            "with --store: a command that ends with status N is run again after the backoff, and no attempt is spent "
                + "(default 75; 0 for none)", .needs("store")),
        Option(
            "give-up-status", .commands, of: [.run, .work], .status, \.giveUpStatus,
            "with --store: a run whose command ends with status N is dead, without further attempts (default 65; 0 for "
                + "none)", .needs("store")),
    ]

    private static let output = [
        Option(
            "format", .output, of: [.filter, .simulate, .tune, .status],
            // A status has a table and --json, too.
            .format([
                .filter: [.lines, .jsonl], .simulate: [.summary, .jsonl, .json], .tune: [.summary, .json],
                .status: [.openmetrics],
            ]), \.format,
            "lines (default), or jsonl: a JSON object per execution",
            but: [
                .simulate: "summary (default), json (the summary as one object), or jsonl: a JSON object per execution",
                .tune: "summary (default), or json",
                .status: "openmetrics: print metrics in the OpenMetrics text format",
            ]),
        Option(
            "at-end", .output, of: [.filter, .run, .simulate],
            .choice("RULE") { subcommand in
                let all = [CommandOptions.EndPolicy.flush, .drop, .wait] + (subcommand == .simulate ? [] : [.keep])
                return all.map { ($0.rawValue, $0) }
            }, \.atEnd,
            "what happens to pending values at the end of the input: flush (default) executes them at once, drop "
                + "discards them, and wait executes them when they are due. With --store the default is keep: "
                + "they stay in the store",
            but: [
                .simulate: "what happens to pending values after the last record: wait (default) executes them when "
                    + "they are due, flush executes them at once, and drop discards them"
            ], .needs("store", for: "keep")),
        Option(
            "stats", .output, of: readers, \.showsStatistics,
            "print counters at the end; SIGUSR1 prints them any time"),
        Option(
            "diagram", .output, of: [.simulate, .tune], \.showsDiagram,
            "add a marble diagram of a part of the trace, in text",
            but: [.tune: "add a marble diagram of a part of the trace, in text, under several waits"]),
        Option(
            "svg", .output, of: [.simulate, .tune], .file, \.picture, "draw the same as a picture",
            but: [.tune: "draw the same, and saving over delay, as a picture"]),
        Option(
            "color", .output, of: [.tune, .status, .list, .dead, .workers, .top],
            .choice("WHEN", Terminal.Colour.allCases.map { ($0.rawValue, $0) }), \.colour,
            "bold and coloured output: auto (default: on a terminal, unless NO_COLOR is set), always or never"),
    ]

    private static let namespaced = Subcommand.withStore.filter { ![.compact, .schema, .adopt, .serve].contains($0) }

    private static let store = [
        Option(
            "store", .store, of: Subcommand.withStore, .store, \.store,
            "sqlite:PATH, a file; postgres://USER@HOST/DATABASE, where lull schema has prepared the database; or "
                + "redis://HOST/DATABASE",
            but: storeSentences),
        Option(
            "namespace", .store, of: namespaced, .name("NAME"), \.givenNamespace,
            "which of its namespaces (default: default)",
            but: [
                .filter: "the namespace of the keys (default: default)",
                .run: "the namespace of the keys (default: default)",
                .work: "the namespace to work on (default: default)",
                .status: "only this one of its namespaces", .forget: "which of its namespaces",
            ], .needs("store")),
        Option(
            "patience", .store, of: namespaced + [.compact, .serve], .duration, \.patience,
            "how long a call waits for other writers of a file (default 5s), or for a server (default 30s)",
            but: [.compact: "how long it waits for other writers (default 5s)"], .needs("store")),
        Option(
            "change-policy", .change, of: [.filter, .run, .submit, .work], \.changesPolicy,
            "change the policy of the namespace for all its users. Without this option, a policy that differs from it "
                + "is an error",
            but: [.submit: changeSentence, .work: changeSentence], .needs("store")),
        Option(
            "lease", .lease, of: readers + [.work], .lease, \.lease,
            "another process takes over the runs of this one after D without a heartbeat (default 30s)",
            .needs("store")),
        Option(
            "backoff", .lease, of: readers + [.work], .backoff, \.backoff,
            "how long a run whose command has failed waits for its next attempt: from FIRST, doubled each time, to "
                + "GREATEST, shortened at random by up to a half (default 1s..10m). Append ,factor=3 or ,jitter=20%",
            .needs("store")),
        Option(
            "attempts", .lease, of: readers + [.work], .number, \.maxAttempts,
            "a run is dead after N failed attempts (default 20); an attempt whose process died counts",
            but: [.work: "a run is dead after N failed attempts (default 20); an attempt whose worker died counts"],
            .needs("store")),
    ]

    private static let storeSentences: [Subcommand: String] = {
        let kept = """
            keep pending values in a file, sqlite:PATH, created if missing; in a database that lull schema has \
            prepared, postgres://USER@HOST/DATABASE; or in Redis or Valkey, redis://HOST/DATABASE
            """
        return [
            .filter: kept, .run: kept,
            .work: "sqlite:PATH, a file, created if a policy is given; postgres://USER@HOST/DATABASE, prepared by lull "
                + "schema; or redis://HOST/DATABASE",
            .compact: "sqlite:PATH, a file", .schema: "postgres://USER@HOST/DATABASE",
            .adopt: "sqlite:PATH, a file, or postgres://USER@HOST/DATABASE",
        ]
    }()

    private static let changeSentence =
        "change the policy for all users, from the next submit on. Only durations, counts and the delay rule can "
        + "change, not the kind (debounce or throttle), --edges, --combine or --while-running"

    private static let tuning = [
        Option(
            "waits", .tuning, of: [.tune], .waits, \.waits,
            "the waits to try: a range such as 50ms..5s (default), or a list such as 100ms,300ms,1s"),
        Option(
            "target-saving", .tuning, of: [.tune], .share, \.targets.saving,
            "suggest the shortest wait that saves P, such as 90%"),
        Option(
            "target-delay", .tuning, of: [.tune], .duration, \.targets.delay,
            "suggest the wait that saves most, of those with nine of ten executions within D of the last submit. "
                + "With --target-saving: the shortest that meets both"),
        Option(
            "by-key", .tuning, of: [.tune], \.tunesKeys,
            "name the keys that would save more with a wait of their own, by more than chance explains"),
    ]

    private static let selecting: [Subcommand] = [.flush, .cancel, .dead]

    /// What only few commands have.
    private static let own = [
        Option("after", .own, of: [.submit, .touch], .duration, \.after, "the delay of this call alone"),
        Option("token", .own, of: [.submit], .name("TOKEN"), \.token, "submits with the same token count once"),
        Option(
            "context", .own, of: [.submit], .name("TEXT"), \.context,
            "LULL_CONTEXT for COMMAND, such as a traceparent"),
        Option("reason", .own, of: [.pause], .name("TEXT"), \.reason, "why, for those who look at lull status"),
        Option("for", .own, of: [.pause], .positive, \.pauseTime, "end the pause by itself after D"),
        Option("ended", .own, of: [.list], \.listsEnds, "list what has ended: the newest 100, or --limit"),
        Option("limit", .own, of: [.list], .number, \.limit, "list the first N only"),
        Option(
            "watch", .own, of: [.status, .list], \.watches,
            "print the status every second; on a terminal, in place",
            but: [
                .list: "print the first keys every second; on a terminal, in place, as many as it has lines for, "
                    + "elsewhere 20"
            ], .refuses("format openmetrics", "shows a table, or objects with --json; not --format openmetrics")),
        Option(
            "all", .own, of: selecting, \.takesAll, "all keys of the namespace, as without a KEY",
            but: [.dead: "retry or discard all dead runs of the namespace"]),
        Option(
            "prefix", .own, of: selecting, .name("TEXT"), \.prefix, "the keys that begin with TEXT",
            but: [.dead: "retry or discard those whose key begins with TEXT"]),
        Option(
            "older-than", .own, of: selecting, .duration, \.olderThan,
            "the keys whose oldest value that no worker has was submitted at least D ago",
            but: [.dead: "those that died at least D ago"]),
        Option(
            "error", .own, of: selecting, .name("TEXT"), \.errorPart,
            "the keys that wait for another attempt after an error with TEXT in it",
            but: [.dead: "those with TEXT in their error"]),
        Option(
            "yes", .own, of: selecting, \.isConfirmed,
            "do not ask: on a terminal, the number is shown first, with a question"),
        Option(
            "json", .own, of: [.submit, .status, .list, .touch, .flush, .cancel, .dead, .workers, .top],
            \.printsObjects,
            "print a JSON object for each, one a line",
            but: [
                .submit: "print the receipt: the key, the generation (which grows with each submit of the key) and "
                    + "dueIn (the delay in seconds)",
                .status: "print a JSON object for each namespace, one a line",
                .list: "print a JSON object for each, one a line; with --ended also the generations that ended so, as "
                    + "in the receipts of lull submit",
                .touch: "print the number in a JSON object", .flush: "print the number in a JSON object",
                .cancel: "print the number in a JSON object",
                .dead: "with list: print a JSON object for each, with its values",
                .top: "print what the program sends: a JSON object of all debouncers, one a line, four a second",
            ]),
        Option(
            "fail-if", .own, of: [.status], .limits, \.limits,
            "exit with status 1 if a namespace exceeds one of these limits, such as 'oldest>60s,dead>0': any columns "
                + "of the table, with a comma between them",
            .excludes("watch")),
        Option(
            each: "namespace", .own, of: [.serve], .name("NAME"), \.givenNamespaces,
            "only this one of its namespaces; may be given several times"),
        Option(
            "page", .own, of: [.top], \.showsPage,
            "serve a page with the same, and a time line, to a browser on this machine; its address is written to "
                + "standard error. It goes on when the program ends and another one begins", .excludes("json"),
            .excludes("color")),
        Option(
            "listen", .own, of: [.serve, .top], .name("PLACE"), \.listen,
            "where it listens: HOST:PORT (default 127.0.0.1:8385), or unix:PATH, a socket. Other machines are let "
                + "in only with --token-file",
            but: [
                .top: "where the page listens: HOST:PORT, an address of this machine (default 127.0.0.1 and a free "
                    + "port), or unix:PATH, a socket"
            ], .needs("page", in: [.top])),
        Option(
            "hooks", .own, of: [.serve], .file, \.hooks,
            "a JSON file of paths at which services deliver events, and how each proves who it is"),
        Option(
            "token-file", .own, of: [.serve], .file, \.tokenFile,
            "a file with a line ROLE TOKEN [NAME] for each who may come in. The role is submit, look, or act, which "
                + "may do both and change what is in the store"),
        Option(
            "allow-actions", .own, of: [.serve], \.allowsActions,
            "the page can flush, cancel, retry, discard, touch, pause, resume and submit; each is written to standard "
                + "error"),
        Option(
            "origin", .own, of: [.serve], .name("URL"), \.origin,
            "the address at which a proxy shows it, such as https://lull.example.org"),
        Option("apply", .own, of: [.schema], \.applies, "run the SQL, in one transaction"),
    ]
}
