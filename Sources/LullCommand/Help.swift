/// What `--help` says.
enum Help {
    static let version = "0.1.0"

    static let overview = """
        lull: runs things in the lull after a burst (debounce), or at a steady pace
        (throttle).

        Usage:
          lull filter   OPTION…                    records in, each burst's last one out
          lull run      OPTION… -- COMMAND [ARG…]  runs COMMAND when a burst is over
          lull simulate OPTION… TRACE              tries a policy on a recorded trace
          lull tune     OPTION… TRACE              says which wait to choose for a trace
          lull submit   --store URL KEY [VALUE|-]  hands a value to a store
          lull work     --store URL -- COMMAND…    does what falls due in a store
          lull status   --store URL                says what there is to do in a store
          lull list     --store URL                shows its keys
          lull flush    --store URL [KEY…]         makes what is pending due now
          lull cancel   --store URL [KEY…]         drops what no worker has
          lull dead     list|retry|discard …       looks after what has failed for good
          lull compact  --store URL                gives unused space of a store back
          lull COMMAND --help                      explains one of these
          lull completions bash|zsh|fish           prints completions for a shell
          lull man [COMMAND]                       prints a page of the manual
          lull --version

        Examples:
          tail -F app.log | lull filter --wait 500ms
          inotifywait -mr src | lull run --wait 300ms -- make
          lull simulate --throttle 1s trace.jsonl
          lull tune trace.jsonl

        """

    static func page(for subcommand: Subcommand) -> String {
        switch subcommand {
        case .filter: filter
        case .run: run
        case .simulate: simulate
        case .tune: tune
        case .submit: submit
        case .work: work
        case .status: status
        case .list: list
        case .flush: flush
        case .cancel: cancel
        case .dead: dead
        case .compact: compact
        }
    }

    static let policy = """
        When (exactly one of the first two; durations are 500ns, 250us, 300ms, 1.5s, 2m,
        1h):
          --wait D               debounce: when nothing has come for D
          --throttle D           throttle: at most once in D
          --max-wait D           with --wait: let nothing wait longer than D
          --max-count N          at once when N are pending
          --edges EDGES          leading, trailing or both; the default is trailing with
                                 --wait, and both with --throttle
          --delay-rule RULE      restart (default) or extend: whether a shorter delay of
                                 a single call replaces a longer one
          --combine RULE         latest (default), first or collect: what is left of
                                 the values behind one execution
          --max-batch N          with --combine collect: at most N values at once;
                                 the rest follows

        """

    private static let records = """
        Records (lines; a key's records are coalesced with each other only):
          --null                 records end in a NUL byte, not in a newline
          --key-field N          the N-th field is the key, separated by blanks
          --delimiter C          fields are separated by the character C (\\t: a tab)
          --key-json POINTER     the key is a value of a JSON record, such as /device/id
          --max-keys N           skip records that would open more than N keys
          --strict               end with status 65 at a bad record, don't skip it
          --record FILE          write what comes in as a trace for lull tune, without
                                 the values; FILE must not be there already
          --record-values        with --record: the values too
          --hash-keys            with --record: each key is replaced by a number

        """

    private static let store = """
        Pending work that survives (a crash, a kill, a reboot):
          --store sqlite:PATH    keep what is pending in this file; made if need be
          --namespace NAME       what the keys belong to there (default: default)
          --change-policy        the policy given here is to hold for everybody there,
                                 though another one does now; otherwise an error
          --lease D              how long a run is this process's without a sign of
                                 life (default 30s)
          --max-attempts N       how often a run that fails is tried (default 20)
        With a store, flush and drop concern what this process alone has submitted and
        is not due yet, and a policy may be left out where the store has one.

        """

    private static let filter = """
        Usage: lull filter (--wait D | --throttle D) [OPTION…] < RECORDS

        Copies records from standard input to standard output: of each burst the last,
        when the burst is over. Each line is written as soon as it is due.

        \(policy)
        \(records)
        Output:
          --format FORMAT        lines (default), or jsonl: an object for an execution
          --at-end RULE          at the end of the input: flush (default) what is
                                 pending, drop it, or wait until it is due; with
                                 --store keep (default): it stays there
          --stats                print the counters at the end (any time: SIGUSR1)

        \(store)
        SIGINT and SIGTERM end the input; a second one ends the program at once.

        Examples:
          tail -F app.log | lull filter --throttle 1s
          mosquitto_sub -v -t 'home/#' | lull filter --wait 2s --key-field 1
          events | lull filter --wait 1s --key-json /user --format jsonl

        """

    private static let run = """
        Usage: lull run (--wait D | --throttle D) [OPTION…] -- COMMAND [ARG…] < RECORDS

        Runs COMMAND when a burst of records is over, with the burst's last record on
        its standard input. In the arguments {key}, {value} (the last record), {count}
        and {edge} are replaced; the environment has LULL_KEY, LULL_COUNT and LULL_EDGE.
        There is no shell in between.

        \(policy)
        \(records)
        Commands:
          --while-running RULE   what to do when a key's command is still running: queue
                                 (default), cancel, concurrent or skip
          --kill-after D         how long a cancelled command has after SIGTERM until
                                 SIGKILL (default 5s)
          --jobs N               run at most N commands at once (default: one a core)
          --fail-fast            start nothing more when a command has failed
          --at-end RULE          at the end of the input: flush (default) what is
                                 pending, drop it, or wait until it is due; with
                                 --store keep (default): it stays there
          --stats                print the counters at the end (any time: SIGUSR1)

        \(store)
        All commands are awaited. SIGINT and SIGTERM end the input; a second one kills
        the commands. The status is 1 if a command failed, 126 or 127 if COMMAND cannot
        be executed or found.

        Examples:
          inotifywait -mr src | lull run --wait 300ms --while-running cancel -- make
          events | lull run --throttle 1m --key-field 1 -- notify {key} '{count} times'
          paths | lull run --wait 1s --max-wait 9s --combine collect -- xargs upload

        """

    private static let simulate = """
        Usage: lull simulate (--wait D | --throttle D) [OPTION…] TRACE

        Replays a recorded trace (a file, or - for standard input) in virtual time, and
        says what would have been executed. A trace is JSON Lines in order of time:
          {"at":12.5,"key":"lamp","value":7}
        "at" is in seconds, or an RFC 3339 time; key and value are any JSON. Optional:
        "op":"submit", "flush" or "cancel" (without a key: all keys), and
        "wait":"500ms", the delay of this call alone.

        \(policy)
        Output:
          --format FORMAT        summary (default), json (the summary as an object), or
                                 jsonl: a line for each execution
          --at-end RULE          after the last record: wait (default) until nothing is
                                 pending, flush what is, or drop it
          --diagram              a stretch of the trace as a marble diagram, in text
          --svg FILE             the same as a picture

        Examples:
          lull simulate --wait 300ms trace.jsonl
          lull simulate --throttle 1s --format jsonl trace.jsonl | head
          zcat trace.jsonl.gz | lull simulate --wait 2s --max-wait 10s -

        """

    private static let tune = """
        Usage: lull tune [OPTION…] TRACE

        Replays a recorded trace (see lull simulate --help) with a ladder of waits at
        once, as debounce and as throttle, and says what each would have cost and saved:
        executions, the share of the submits that needed none, the delays, how many
        executions came too early to last, and the longest time without one. Then it
        suggests a wait.

          --waits LADDER         50ms..5s (default), or a list such as 100ms,300ms,1s
          --target-saving P      suggest the shortest wait that saves P, such as 90%
          --target-delay D       … with nine of ten executions within D of the last
                                 submit; alone: the one that saves most within D
          --by-key               name the keys that would save more with a wait of their
                                 own, if chance does not explain it
          --max-wait D, --max-count N, --edges EDGES, --delay-rule RULE
                                 the rest of the policy, as for lull simulate
          --format FORMAT        summary (default), or json
          --diagram              what some waits do to a stretch of the trace, in text
          --svg FILE             the same, and saving against delay, as a picture

        Examples:
          lull tune typing.jsonl
          lull tune --target-saving 90% --max-wait 10s typing.jsonl
          zcat trace.jsonl.gz | lull tune --waits 1s..1m --by-key -

        """
}
