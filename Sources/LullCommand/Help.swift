/// The texts of `--help`.
enum Help {
    static let version = "0.1.0"

    static let overview = """
        lull: runs work in the lull after a burst (debounce), or at a limited rate
        (throttle).

        Usage:
          lull filter   OPTION…                    passes on the last record of a burst
          lull run      OPTION… -- COMMAND [ARG…]  runs COMMAND when a burst is over
          lull simulate OPTION… TRACE              tries a policy on a recorded trace
          lull tune     [OPTION…] TRACE            suggests a wait for a recorded trace
          lull submit   --store URL KEY [VALUE|-]  submits a value to a store
          lull work     --store URL -- COMMAND…    runs COMMAND for values that are due
          lull status   --store URL                counts the work in a store
          lull list     --store URL                lists keys, or what has ended
          lull flush    --store URL [KEY…]         makes pending values due now
          lull cancel   --store URL [KEY…]         drops values not yet claimed
          lull dead     list|retry|discard …       handles runs that failed for good
          lull workers  --store URL                lists the processes that work
          lull forget   --store URL                deletes a namespace without work
          lull compact  --store URL                returns unused space to the system
          lull schema   --store URL [--apply]      prepares a database for LullPostgres
          lull adopt    --store URL                lets workers use a copied database
          lull completions bash|zsh|fish           prints completions for a shell
          lull man [COMMAND]                       prints a page of the manual
          lull help [COMMAND]                      explains a command
          lull COMMAND --help                      does the same
          lull --version                           prints the version

        A store keeps pending work: in a file, sqlite:PATH, or for many machines in a
        PostgreSQL database, postgres://USER@HOST/DATABASE, or in a Redis or Valkey
        server, redis://HOST/DATABASE.

        Examples:
          tail -F app.log | lull filter --wait 500ms
          inotifywait -mr src | lull run --wait 300ms -- make
          lull simulate --throttle 1s trace.jsonl
          lull tune trace.jsonl

        """

    /// All names that the first argument can have.
    static let commands = pages + ["help"]
    /// The commands that have a page.
    static let pages = Subcommand.allCases.map(\.rawValue) + ["completions", "man"]

    /// Returns the text of `lull help`: the overview, or the page of a command.
    static func make(_ arguments: [String]) throws(Failure) -> String {
        // The page of a command also explains its keywords.
        let isPair = arguments.count == 2 && Subcommand(rawValue: arguments[0])?.takes(keyword: arguments[1]) == true
        guard arguments.count <= 1 || isPair else { throw .usage("unexpected argument \(arguments[1])") }
        guard let name = arguments.first, !["--help", "-h", "help"].contains(name) else { return overview }
        guard let page = page(named: name) else { throw .unknown(name) }
        return page
    }

    /// Returns the page of a command; nil if there is none.
    static func page(named name: String) -> String? {
        switch name {
        case "completions": Completions.help
        case "man": Manual.help
        default: Subcommand(rawValue: name).map { page(for: $0) }
        }
    }

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
        case .workers: workers
        case .forget: forget
        case .compact: compact
        case .schema: schema
        case .adopt: adopt
        }
    }

    static let policy = """
        Policy:
          --wait D               debounce: execute when no value has come for D
          --throttle D           throttle: execute at most once every D; not with --wait
          --max-wait D           with --wait: no value waits longer than D
          --max-count N          execute at once when N values are pending
          --spacing D            with --wait: values of a key are due at least D apart
          --edges EDGES          execute at the leading edge of a burst, the trailing
                                 edge, or both. The default is trailing with --wait,
                                 and both with --throttle
          --delay-rule RULE      whether a shorter delay replaces a longer one (restart,
                                 the default) or not (extend); for values with delays
                                 of their own, from --delay-field, --delay-json, lull
                                 submit --after, or "wait" in a trace
          --combine RULE         what an execution gets of the values of a burst: the
                                 latest (default), the first, or all of them (collect)
          --max-batch N          with --combine collect: at most N values for one
                                 execution; the next one gets the rest

        A duration D is a number with a unit: 500ns, 250us, 300ms, 1.5s, 2m, 1h.

        """

    private static let records = """
        Records:
          --null                 records end in a NUL byte, not in a newline
          --key-field N          the key is the N-th field; blanks separate fields
          --key-json POINTER     records are JSON, and the key is the value at a JSON
                                 pointer, such as /device/id
          --delay-field N        the N-th field is the delay of this record alone, such
                                 as 500ms; a throttle ignores it
          --delay-json POINTER   the same for JSON records: a string such as "500ms"
          --delimiter C          C separates fields, not blanks (\\t is a tab)
          --max-keys N           skip records that would open more than N keys
          --strict               end with status 65 at a bad record; do not skip it
          --record FILE          write a trace of the input, for lull simulate and lull
                                 tune. It has the times, keys and delays. FILE must
                                 not exist
          --record-values        with --record: write the values too
          --hash-keys            with --record: replace each key by a number

        A record is a line. Only records with the same key are coalesced. If no option
        gives a key, all records have the same one.

        """

    private static let atEnd = """
          --at-end RULE          what happens to pending values at the end of the input:
                                 flush (default) executes them at once, drop discards
                                 them, and wait executes them when they are due. With
                                 --store the default is keep: they stay in the store
          --stats                print counters at the end; SIGUSR1 prints them any time

        """

    private static let store = """
        Pending work that survives a crash, a kill or a reboot:
          --store URL            keep pending values in a file, sqlite:PATH, created if
                                 missing; in a database that lull schema has prepared,
                                 postgres://USER@HOST/DATABASE; or in Redis or Valkey,
                                 redis://HOST/DATABASE
          --namespace NAME       the namespace of the keys (default: default)
        \(patience)
          --change-policy        change the policy of the namespace for all its users.
                                 Without this option, a policy that differs from it is
                                 an error
          --lease D              another process takes over the runs of this one after D
                                 without a heartbeat (default 30s)
          --max-attempts N       a run is dead after N failed attempts (default 20); an
                                 attempt whose process died counts

        With a store, the policy may be left out if the namespace has one. --at-end
        flush and drop affect only values that this process alone has submitted and
        that are not due yet.

        """

    private static let filter = """
        Usage: lull filter (--wait D | --throttle D) [OPTION…] < RECORDS

        Copies records from standard input to standard output: of each burst only the
        last record, as soon as the burst is over.

        \(policy)
        \(records)
        Output:
          --format FORMAT        lines (default), or jsonl: a JSON object per execution
        \(atEnd)
        \(store)
        SIGINT and SIGTERM end the input. A second signal ends the program at once.

        Examples:
          tail -F app.log | lull filter --throttle 1s
          mosquitto_sub -v -t 'home/#' | lull filter --wait 2s --key-field 1
          events | lull filter --wait 1s --key-json /user --format jsonl

        """

    private static let run = """
        Usage: lull run (--wait D | --throttle D) [OPTION…] -- COMMAND [ARG…] < RECORDS

        Runs COMMAND when a burst of records is over. The last record of the burst is
        on its standard input, with its terminator. In the arguments, {key}, {value}
        (the last record), {count} and {edge} are replaced; {{key}} is a literal {key}.
        The environment has LULL_KEY, LULL_COUNT and LULL_EDGE, and with --store also
        LULL_RUN, LULL_ATTEMPT and LULL_FENCE. COMMAND is started without a shell and
        without a terminal. In a program of sh -c, which would execute what is in {key},
        write "$LULL_KEY".

        \(policy)
        \(records)
        Commands:
          --while-running RULE   what happens to a value that falls due while a command
                                 of its key runs: queue (default) lets the value wait,
                                 cancel stops the command, concurrent starts another
                                 one, and skip drops the value
          --kill-after D         how long after SIGTERM a cancelled command gets SIGKILL
                                 (default 5s)
          --jobs N               run at most N commands at once (default: one per core)
          --fail-fast            start no more commands after one has failed
        \(atEnd)
        \(store)
        At the end, lull waits for all commands. SIGINT and SIGTERM end the input. A
        second signal kills the commands. When lull has ended, for whatever reason,
        everything that the commands have started ends too.

        The exit status is 1 if a command failed, 126 if COMMAND cannot be executed, and
        127 if it cannot be found.

        Examples:
          inotifywait -mr src | lull run --wait 300ms --while-running cancel -- make
          events | lull run --throttle 1m --key-field 1 -- notify {key} '{count} times'
          paths | lull run --wait 1s --max-wait 9s --combine collect -- xargs upload

        """

    private static let simulate = """
        Usage: lull simulate (--wait D | --throttle D) [OPTION…] TRACE

        Replays a recorded trace in virtual time, and reports what would have been
        executed. TRACE is a file, or - for standard input. It is JSON Lines, ordered by
        time:
          {"at":12.5,"key":"lamp","value":7}
        "at" is a number of seconds, or an RFC 3339 time. "key" and "value" are any
        JSON. Two more members are optional: "op" is "submit" (default), "flush" or
        "cancel", and the last two are for all keys if there is no "key"; "wait", such
        as "500ms", is the delay of this submit alone.

        \(policy)
        Output:
          --format FORMAT        summary (default), json (the summary as one object), or
                                 jsonl: a JSON object per execution
          --at-end RULE          what happens to pending values after the last record:
                                 wait (default) executes them when they are due, flush
                                 executes them at once, and drop discards them
          --diagram              add a marble diagram of a part of the trace, in text
          --svg FILE             draw the same as a picture

        Examples:
          lull simulate --wait 300ms trace.jsonl
          lull simulate --throttle 1s --format jsonl trace.jsonl | head
          zcat trace.jsonl.gz | lull simulate --wait 2s --max-wait 10s -

        """

    private static let tune = """
        Usage: lull tune [OPTION…] TRACE

        Replays a recorded trace (see lull simulate --help) with many waits at once. It
        shows what each of them costs and saves, as debounce and (without --spacing) as
        throttle, and suggests one of each. Without a target it suggests the knee: up to
        that wait, more waiting saves much; beyond it, little. For a trace of fewer than
        20 submits, or with all submits at one instant, it suggests nothing.

          --waits RANGE|LIST     the waits to try: a range such as 50ms..5s (default),
                                 or a list such as 100ms,300ms,1s
          --target-saving P      suggest the shortest wait that saves P, such as 90%
          --target-delay D       suggest the wait that saves most, of those with nine of
                                 ten executions within D of the last submit. With
                                 --target-saving: the shortest that meets both
          --by-key               name the keys that would save more with a wait of their
                                 own, by more than chance explains
          --max-wait D, --max-count N, --spacing D, --edges EDGES, --delay-rule RULE
                                 the rest of the policy, as for lull simulate
          --format FORMAT        summary (default), or json
          --diagram              add a marble diagram of a part of the trace, in text,
                                 under several waits
          --svg FILE             draw the same, and saving over delay, as a picture

        Columns of the tables:
          debounce, throttle     the wait of the debounce, the interval of the throttle
          *                      efficient: no other wait saves as much with less delay
          <                      the suggestion
          executions             how often the work would have been done
          saved                  the share of submits that needed no execution
          after last             the delay from the last submit behind an execution to
                                 it, as percentiles: p50/p90/p99, or fewer if they do
                                 not fit the terminal
          after first            the same delay from the first submit
          premature              executions that the next submit of the burst followed
                                 within the wait (or within --spacing), so that their
                                 value did not last
          longest                the longest time from a first submit to its execution

        Examples:
          lull tune typing.jsonl
          lull tune --target-saving 90% --max-wait 10s typing.jsonl
          zcat trace.jsonl.gz | lull tune --waits 1s..1m --by-key -

        """
}
