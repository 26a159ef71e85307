package import LullCore

/// The rows of a store inside one atomic step: for implementers of a ``DurableStore``.
///
/// A store that can hold its rows still during a step, by a lock or in a transaction, implements these functions and
/// builds its calls on the extensions of this protocol: ``submit(_:in:at:)``, ``claim(_:in:at:)``, ``report(_:in:at:)``
/// and the others. A store whose steps run on a server writes them in the server's language; the conformance suite
/// requires the same answers of it.
package protocol DurableTable {
    /// The source of fences and run ids: one number for the whole store, which only grows.
    var sequence: Int64 { get set }
    /// The highest generation of all deleted rows.
    var base: Int64 { get set }

    /// Returns the row of a key, or nil if the key is idle.
    mutating func find(_ key: [UInt8], in namespace: DurableNamespace) throws(DurableError) -> DurableEntry?
    /// Inserts a row.
    mutating func insert(
        _ row: DurableRow, wake: CoreInstant, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError)
    /// Replaces a row: `new` has the handle and the key of `old`.
    mutating func update(
        _ new: DurableEntry, from old: DurableEntry, in namespace: DurableNamespace
    ) throws(DurableError)
    /// Deletes a row.
    mutating func delete(_ entry: DurableEntry, in namespace: DurableNamespace) throws(DurableError)

    /// Returns the rows with the earliest `wake`, up to an instant, the earliest first.
    mutating func earliest(
        in namespace: DurableNamespace, through now: CoreInstant, limit: Int
    ) throws(DurableError) -> [DurableEntry]
    /// Returns the earliest `wake` of all rows.
    mutating func nextWake(in namespace: DurableNamespace) throws(DurableError) -> CoreInstant?
    /// Returns the rows whose runs are leased to a worker.
    mutating func held(by owner: Int64, in namespace: DurableNamespace) throws(DurableError) -> [DurableEntry]
    /// Returns the handles of all rows, in the order of their insertion.
    mutating func handles(in namespace: DurableNamespace) throws(DurableError) -> [Int64]
    /// Returns the row with a handle, or nil if there is none any more.
    mutating func entry(of handle: Int64, in namespace: DurableNamespace) throws(DurableError) -> DurableEntry?
    /// Returns the keys of the rows whose pending value comes from this submitter alone or from several, in the order of
    /// their insertion.
    mutating func keys(
        submittedBy submitter: Int64, in namespace: DurableNamespace
    ) throws(DurableError) -> [[UInt8]]
    /// Returns the bytes of the values of an entry's run, in order.
    mutating func values(
        ofRunIn entry: DurableEntry, in namespace: DurableNamespace
    ) throws(DurableError) -> [[UInt8]]
    /// Returns the generation of the ready value at an index, from 0; nil if the row itself holds the values.
    mutating func generation(
        ofValue index: Int, in ready: DurableRow.Ready, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) -> Int64?
    /// Deletes the values of a range that the row itself does not hold.
    mutating func dropValues(
        of submits: ClosedRange<Int64>, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError)

    /// Counts attempts that begin, and leases that ended before their runs: see ``DurableStatus``.
    mutating func count(attempts: Int, lostLeases: Int, in namespace: DurableNamespace) throws(DurableError)
    /// Counts that the values of a run went back: see ``DurableStatus/restarted``.
    mutating func countRestart(in namespace: DurableNamespace) throws(DurableError)
    /// Takes note that workers have to look at their runs: see ``DurableStore/interruptions(of:besides:in:atMost:)``.
    mutating func noteInterruption(in namespace: DurableNamespace)

    /// Records the end of a range, and deletes its values unless it is dead. An absorbed submit extends the key's latest
    /// absorbed range.
    mutating func record(
        _ ending: DurableEnding, of entry: DurableEntry, at now: CoreInstant, in namespace: DurableNamespace
    ) throws(DurableError)
    /// Returns how a run of a key has ended; nil if it has not.
    mutating func end(
        ofRun run: Int64, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) -> DurableOutcome?
    /// Returns how a submit of a key has ended, with the error if there was one; nil if it has not ended.
    mutating func end(
        ofSubmit generation: Int64, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) -> (how: DurableOutcome, error: String?)?
    /// Returns the newest generation of a key that has ended, dead runs included.
    mutating func newestEnd(of key: [UInt8], in namespace: DurableNamespace) throws(DurableError) -> Int64?

    /// Returns a dead run with its values, and keeps it.
    mutating func findDead(
        _ run: Int64, in namespace: DurableNamespace
    ) throws(DurableError) -> (key: [UInt8], run: DurableRow.Run)?
    /// Removes a dead run. Without `withValues`, values that the row does not hold stay in the store, because the run is
    /// retried.
    ///
    /// - Returns: Whether there was such a run.
    mutating func takeDead(
        _ run: Int64, withValues: Bool, in namespace: DurableNamespace
    ) throws(DurableError) -> Bool

    /// Returns the first answer to a submit with this token.
    mutating func answer(
        to token: String, in namespace: DurableNamespace
    ) throws(DurableError) -> DurableReceipt?
    /// Records the answer to a submit with this token.
    mutating func remember(
        _ receipt: DurableReceipt, for token: String, at now: CoreInstant, in namespace: DurableNamespace
    ) throws(DurableError)

    /// Deletes some of the ends and tokens that are older than these instants. The ends of a key stay while it has a dead
    /// run, or a run that may still die: they decide whether that run is outdated.
    mutating func forget(
        endsBefore ended: CoreInstant, tokensBefore tokens: CoreInstant, in namespace: DurableNamespace
    ) throws(DurableError)
}

/// A namespace, as an argument of the steps of a ``DurableTable``.
package struct DurableNamespace: Hashable, Sendable {
    /// The store's number of the namespace.
    package var id: Int64
    /// The name of the namespace.
    package var name: String
    /// The rules with which the namespace was last opened.
    package var rules: DurableRules

    /// Creates a namespace from what the store has of it.
    package init(id: Int64, name: String, rules: DurableRules) {
        self.id = id
        self.name = name
        self.rules = rules
    }
}

extension DurableNamespace {
    /// Returns the rules of a namespace that is being opened. Durations and counts may change; other changes are refused.
    ///
    /// - Parameters:
    ///   - given: The requested rules; nil for the stored ones.
    ///   - stored: The stored rules; nil if the namespace is new.
    package static func open(
        _ name: String, _ given: DurableRules?, stored: DurableRules?
    ) throws(DurableError) -> DurableRules {
        guard let rules = given ?? stored else { throw .noPolicy(namespace: name) }
        if let stored, stored.lasting != rules.lasting {
            throw .otherPolicy(namespace: name, stored: stored, given: rules)
        }
        return rules
    }

    /// Returns the time until an instant, or zero if it has passed.
    package static func time(from now: CoreInstant, to due: CoreInstant) -> Duration {
        .nanoseconds(max(0, now.duration(to: due).nanoseconds))
    }
}

/// A row of a ``DurableTable``, with its handle, its key and its wake-up instant.
package struct DurableEntry: Hashable, Sendable {
    /// The store's number of the row.
    package var handle: Int64
    /// The bytes of the key.
    package var key: [UInt8]
    /// The state of the key.
    package var row: DurableRow
    /// The only instant that a store has to index: never later than the first at which something can happen to the row.
    /// A submit only moves it earlier; a step that finds it too early moves it later.
    package var wake: CoreInstant

    /// Creates an entry from what the store has of it.
    package init(handle: Int64, key: [UInt8], row: DurableRow, wake: CoreInstant) {
        self.handle = handle
        self.key = key
        self.row = row
        self.wake = wake
    }
}
