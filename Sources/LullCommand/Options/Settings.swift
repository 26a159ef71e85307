internal import LullCore

/// What the program can be told to do.
enum Subcommand: String, CaseIterable {
    case filter
    case run
    case simulate
    case tune
    case submit
    case work
    case status
    case list
    case flush
    case cancel
    case dead
    case compact
}

/// Everything that options say, with what holds where they say nothing.
struct Settings {
    /// What becomes of pending values at the end of the input.
    enum AtEnd: String {
        case flush
        case drop
        case wait
        /// It stays in the store.
        case keep

        /// Those of a subcommand.
        static func known(to subcommand: Subcommand) -> [AtEnd] {
            subcommand == .simulate ? [.flush, .drop, .wait] : [.flush, .drop, .wait, .keep]
        }
    }

    /// How executions are written.
    enum Format: String, CaseIterable {
        case lines
        case jsonl
        case summary
        case json
        case openmetrics

        /// The formats of a subcommand, the usual one first.
        static func known(to subcommand: Subcommand) -> [Format] {
            switch subcommand {
            case .filter, .run: [.lines, .jsonl]
            case .simulate: [.summary, .jsonl, .json]
            case .tune: [.summary, .json]
            // Their other form is --json.
            case .status: [.openmetrics]
            case .submit, .work, .list, .flush, .cancel, .dead, .compact: []
            }
        }
    }

    var wait: CoreDuration?
    var throttle: CoreDuration?
    var maxWait: CoreDuration?
    var maxCount: Int?
    var edges: Edges?
    var delayRule: DelayRule?
    var combination: Combination?
    var maxBatch: Int?

    /// The byte that ends a record.
    var terminator = UInt8(ascii: "\n")
    var field: Int?
    var delimiter: [UInt8]?
    var pointer: JSONPointer?
    var isStrict = false
    var maxKeys: Int?

    var format: Format?
    var atEnd: AtEnd?
    var showsStatistics = false

    var whileRunning: WhileRunning?
    var killAfter = CoreDuration.seconds(5)
    var jobs: Int?
    var failsFast = false

    /// The file that gets a trace of what comes in.
    var recording: Argument?
    var recordsValues = false
    var hashesKeys = false

    /// The store that keeps what is pending, as it was given.
    var store: String?
    var givenNamespace: String?
    var namespace: String { givenNamespace ?? "default" }
    /// Options that only a store gives a meaning, as they were given.
    var storeOptions: [Option] = []
    /// Whether a policy that differs from the one that the namespace has takes its place.
    var changesPolicy = false
    var lease = CoreDuration.seconds(30)
    var maxAttempts = 20
    /// For `lull submit`.
    var after: CoreDuration?
    var token: String?
    /// Whether `lull status` goes on.
    var watches = false
    /// Whether `lull dead` retries or discards all runs.
    var takesAll = false

    /// What `lull tune` compares.
    var waits: [CoreDuration]?
    var targets = Targets()
    var tunesKeys = false

    /// The file that gets a picture.
    var picture: Argument?
    var showsDiagram = false
    /// Whether a stretch of the trace is to be drawn.
    var drawsStretch: Bool { picture != nil || showsDiagram }

    /// How to find the key of a record.
    var keyRule: KeyRule {
        if let pointer { return .json(pointer) }
        return field.map { .field($0, delimiter: delimiter) } ?? .same
    }

    /// The engine's setup for a subcommand, if the options agree with each other.
    func setup(for subcommand: Subcommand) throws(Failure) -> Setup {
        try checkRecords(for: subcommand)
        try checkCombination(for: subcommand)
        let policy = try policy(for: subcommand)
        do {
            // Where executions take no time, none is ever in another's way; but the parts of a batch come one by one.
            guard subcommand == .run else {
                return try Setup(
                    policy, combination: combination ?? .latest, whileRunning: maxBatch == nil ? .concurrent : .queue,
                    capacity: maxKeys, maxBatch: maxBatch)
            }
            return try Setup(
                policy, combination: combination ?? .latest, whileRunning: whileRunning ?? .queue,
                maxConcurrent: jobs ?? Settings.cores, capacity: maxKeys, maxBatch: maxBatch)
        } catch {
            throw .usage("\(error)", subcommand)
        }
    }

    /// Refuses options about records that need others, or exclude each other.
    func checkRecords(for subcommand: Subcommand) throws(Failure) {
        if delimiter != nil, field == nil { throw .usage("--delimiter needs --key-field", subcommand) }
        if recordsValues, recording == nil { throw .usage("--record-values needs --record", subcommand) }
        if hashesKeys, recording == nil { throw .usage("--hash-keys needs --record", subcommand) }
        if field != nil, pointer != nil { throw .usage("--key-field and --key-json exclude each other", subcommand) }
    }

    /// Refuses options that do not go together with how values are combined.
    func checkCombination(for subcommand: Subcommand) throws(Failure) {
        if maxBatch != nil, combination != .collect {
            throw .usage("--max-batch needs --combine collect: otherwise an execution gets one value", subcommand)
        }
        if combination == .collect, whileRunning == .cancelRunning {
            throw .usage(
                "--while-running cancel would lose values of --combine collect: use --while-running queue, "
                    + "or --combine latest", subcommand)
        }
    }

    /// When values fall due.
    func policy(for subcommand: Subcommand) throws(Failure) -> Policy {
        do {
            switch (wait, throttle) {
            case (nil, nil):
                throw Failure.usage("give a quiet period with --wait, or an interval with --throttle", subcommand)
            case (_?, _?):
                throw Failure.usage("--wait and --throttle exclude each other", subcommand)
            case (let wait?, nil):
                return try .debounce(
                    wait: wait, maxWait: maxWait, edges: edges ?? .trailing, delayRule: delayRule ?? .restart,
                    maxCount: maxCount)
            case (nil, let interval?):
                if maxWait != nil { throw Failure.usage("--max-wait has no meaning with --throttle", subcommand) }
                if delayRule != nil { throw Failure.usage("--delay-rule has no meaning with --throttle", subcommand) }
                return try .throttle(interval: interval, edges: edges ?? [.leading, .trailing], maxCount: maxCount)
            }
        } catch let failure as Failure {
            throw failure
        } catch PolicyError.maxWaitBelowWait(let maxWait, let wait) {
            throw .usage("--max-wait is \(maxWait), but must be at least the --wait of \(wait)", subcommand)
        } catch PolicyError.maxCountWithoutTrailing {
            throw .usage("--max-count needs the trailing edge: without it nothing is ever pending", subcommand)
        } catch {
            throw .usage("\(error)", subcommand)
        }
    }
}
