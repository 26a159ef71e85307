internal import LullCore
internal import LullDurable

/// The questions that commands ask a store. Every call blocks until it is answered.
protocol CommandReader {
    /// Returns the names of all namespaces, in order.
    func names() throws(DurableError) -> [String]
    /// Returns the counts of all namespaces, in the order of their names.
    func status() throws(DurableError) -> [DurableStatus]
    /// Returns the counts of one namespace.
    func status(of namespace: String) throws(DurableError) -> DurableStatus
    /// Returns a page of the keys that are not at rest, from `start` on, in the order of their bytes.
    func list(
        in namespace: String, from start: [UInt8], limit: Int
    ) throws(DurableError) -> [DurableListing<[UInt8]>]
    /// Returns how submits of a key, or of all keys, have ended, the newest first.
    func ended(
        of key: [UInt8]?, in namespace: String, limit: Int
    ) throws(DurableError) -> [DurableEnd<[UInt8]>]
    /// Returns the workers that are there or have runs.
    func workers(in namespace: String) throws(DurableError) -> [DurableWorker]
    /// Returns the runs that have failed for good, the oldest first.
    func dead(in namespace: String, limit: Int) throws(DurableError) -> [DurableDeadRun<[UInt8]>]
    /// Returns what an operator of the server should watch; nil for a store in a file.
    func health() throws(DurableError) -> ServerHealth?
}

/// A store as the commands use it. Every call blocks until it is answered.
protocol CommandStore: CommandReader {
    /// Opens a namespace as the options say.
    ///
    /// - Returns: The rules that hold, or why it is not opened.
    func open(_ namespace: String, _ policy: NamespacePolicy) throws(DurableError) -> Result<DurableRules, Failure>
    /// Records submits in their order, each with an answer of its own.
    func submit(_ batch: [DurableSubmission]) throws(DurableError) -> [Result<DurableReceipt, DurableError>]
    /// Flushes keys, or all of them where a key is nil, and returns the count for each.
    func flush(_ keys: [[UInt8]?], in namespace: String) throws(DurableError) -> [Int]
    /// Cancels keys, or all of them where a key is nil, and returns the count for each.
    func cancel(_ keys: [[UInt8]?], in namespace: String) throws(DurableError) -> [Int]
    /// Flushes what only one submitter has submitted.
    func flush(submittedBy submitter: Int64, in namespace: String) throws(DurableError) -> OwnFlush
    /// Cancels what only one submitter has submitted, and returns the number of mixed keys.
    func cancel(submittedBy submitter: Int64, in namespace: String) throws(DurableError) -> Int
    func retry(_ run: Int64, in namespace: String) throws(DurableError) -> DurableRetry
    func discard(_ run: Int64, in namespace: String) throws(DurableError) -> Bool
    /// Records that a worker is there.
    func announce(_ worker: DurableWorker.Identity, in namespace: String) throws(DurableError)
    /// Deletes a namespace that has no work.
    func forget(_ namespace: String) throws(DurableError)
    func state(of receipt: DurableReceipt) throws(DurableError) -> DurableState

    // MARK: - For a session

    /// Makes the calls of a session's worker.
    func exchange(_ reports: [DurableReport], _ claim: DurableClaim?, in namespace: String) -> CommandExchange
    /// Looks for changes from now on: what may be due changed since a claim's answer with this mark.
    func watch(_ namespace: String, after mark: Int64, atMost time: CoreDuration)
    /// Readable when something may have changed; -1 if the session has to look at intervals.
    var changesDescriptor: Int32 { get }
    /// Returns whether something has changed since ``watch(_:after:atMost:)`` or the last call.
    func hasChanges() throws(DurableError) -> Bool
    /// Throws if nothing that is recorded now would last.
    func check() throws(DurableError)
    /// Called when there is nothing else to do.
    func maintain()
    /// Called once, at the end of the session.
    func cleanUp()
}

/// What a session has flushed.
struct OwnFlush {
    var flushed: [(key: [UInt8], generation: Int64)]
    /// The number of keys to which others may have submitted too.
    var mixed: Int
    /// The instant of the flush in the store's time.
    var now: CoreInstant
}

/// The answers to the calls of a session's worker.
struct CommandExchange {
    var answers: DurableExchange
    /// The instant of the calls in the store's time; nil if it is not known.
    var now: CoreInstant?
    /// Whether something can be claimed at once.
    var hasMore = false
}

extension CommandReader {
    /// Makes a call. The failure for an unknown namespace lists the known ones.
    func ask<Answer>(
        for subcommand: Subcommand, _ call: () throws(DurableError) -> Answer
    ) throws(Failure) -> Answer {
        do throws(DurableError) {
            return try call()
        } catch {
            throw Failure(error, namespaces: (try? names()) ?? [], subcommand)
        }
    }
}
