internal import Lull
internal import LullCore
internal import LullTuning

/// The values of all options, with their defaults.
struct CommandOptions {
    /// The treatment of pending values at the end of the input.
    enum EndPolicy: String {
        case flush
        case drop
        case wait
        /// They stay in the store.
        case keep
    }

    enum Format: String, CaseIterable {
        case lines
        case jsonl
        case summary
        case json
        case openmetrics
    }

    var asksForHelp = false
    var policy = PolicyOptions()

    var endsWithNull = false
    var terminator: UInt8 { endsWithNull ? 0 : UInt8(ascii: "\n") }
    var keyField: Int?
    var keyPointer: JSONPointer?
    var afterField: Int?
    var afterPointer: JSONPointer?
    var delimiter: [UInt8]?
    var isStrict = false
    var maxKeys: Int?

    var format: Format?
    /// Whether a command that has no other format but a table prints objects.
    var printsObjects = false
    var atEnd: EndPolicy?
    var showsStatistics = false

    /// How long each execution of a simulation takes; nil if that takes no time.
    var runTime: CoreDuration?
    var killAfter: CoreDuration?
    /// How long an execution may run before it is told to stop.
    var timeLimit: CoreDuration?
    /// The signal that tells a command to stop; nil for SIGTERM.
    var stopSignal: Int32?
    /// The exit statuses that say something of a run in a store, nil where the usual one does.
    var snoozeStatus: Int32?
    var giveUpStatus: Int32?
    var jobs: Int?
    var failsFast = false

    /// The file for a trace of the input.
    var recording: Argument?
    var recordsValues = false
    var hashesKeys = false

    var store: String?
    var givenNamespace: String?
    var namespace: String { givenNamespace ?? "default" }
    /// How long a call waits for the store; nil for the store's own time.
    var patience: CoreDuration?
    /// Whether a policy that differs from the namespace's replaces it.
    var changesPolicy = false
    var lease: CoreDuration?
    var maxAttempts: Int?
    /// The delays between attempts; the number of attempts there is not used.
    var backoff: RetryPolicy?
    /// For `lull submit`.
    var after: CoreDuration?
    var token: String?
    var context: String?
    /// Whether `lull status` or `lull list` repeats.
    var watches = false
    /// What fails `lull status`.
    var limits: StatusLimits?
    /// Whether `lull list` shows what has ended.
    var listsEnds = false
    /// The most keys that `lull list` shows.
    var limit: Int?
    /// What is flushed, cancelled, retried or discarded: all, or what meets these conditions.
    var takesAll = false
    var prefix: String?
    var olderThan: CoreDuration?
    var errorPart: String?
    /// Whether that is done without a question.
    var isConfirmed = false
    /// Why `lull pause` pauses a namespace, and for how long.
    var reason: String?
    var pauseTime: CoreDuration?
    /// Whether `lull schema` changes the database.
    var applies = false

    /// Whether `lull top` serves a page.
    var showsPage = false
    /// Where `lull serve` and that page listen.
    var listen: String?
    /// What `lull serve` serves to whom.
    var hooks: Argument?
    var tokenFile: Argument?
    var allowsActions = false
    var origin: String?
    var givenNamespaces: [String] = []

    var waits: [CoreDuration]?
    var targets = Targets()
    var tunesKeys = false

    /// When tables stand out; nil for the default.
    var colour: Terminal.Colour?
    var style: Terminal.Style { (colour ?? .auto).style }

    var picture: Argument?
    var showsDiagram = false
    var drawsExcerpt: Bool { picture != nil || showsDiagram }

    var keyRule: KeyRule { part(keyField, keyPointer).map { .part($0) } ?? .same }

    var combining: CombineRule { policy.combination ?? .latest }

    /// How to find the delay of a record; nil if records have none of their own.
    var afterPart: RecordPart? { part(afterField, afterPointer) }

    private func part(_ field: Int?, _ pointer: JSONPointer?) -> RecordPart? {
        if let pointer { return .json(pointer) }
        return field.map { .field($0, delimiter: delimiter) }
    }

    /// When, and how often, a run whose command has failed is tried again.
    var retryPolicy: RetryPolicy {
        var policy = backoff ?? RetryPolicy()
        policy.maxAttempts = maxAttempts ?? policy.maxAttempts
        return policy
    }

    var answerStatuses: CommandAnswer.Statuses {
        var statuses = CommandAnswer.Statuses()
        if let snoozeStatus { statuses.snooze = snoozeStatus == 0 ? nil : snoozeStatus }
        if let giveUpStatus { statuses.giveUp = giveUpStatus == 0 ? nil : giveUpStatus }
        return statuses
    }

    /// Throws if both statuses are the same one.
    func checkStatuses(for subcommand: Subcommand) throws(Failure) {
        let statuses = answerStatuses
        guard let both = statuses.snooze, both == statuses.giveUp else { return }
        throw .usage("--snooze-status and --give-up-status are both \(both): a status says one thing", subcommand)
    }

    /// Returns the engine's setup for a subcommand; throws if options contradict each other.
    func setup(for subcommand: Subcommand) throws(Failure) -> Setup {
        let runs = subcommand == .run
        // Executions that take no time never overlap, but the parts of a batch come one after the other.
        let usual: OverlapPolicy = runs || runTime != nil || policy.maxBatch != nil ? .queue : .concurrent
        let policy = try policy.policy(for: subcommand)
        do throws(PolicyError) {
            return try Setup(
                policy, combination: self.policy.combination?.combination ?? .latest,
                whileRunning: self.policy.runningRule ?? usual,
                maxConcurrent: runs ? jobs ?? CommandOptions.cores : jobs, capacity: maxKeys,
                maxBatch: self.policy.maxBatch, limit: self.policy.rateLimit, timeLimit: timeLimit)
        } catch {
            throw Failure(error, subcommand)
        }
    }
}
