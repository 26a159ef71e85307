public import LullCore

/// The rows of a store inside one atomic step: for implementers of a ``DurableStore``.
///
/// A store that can hold its rows still during a step, by a lock or in a transaction, implements these few functions,
/// and makes its calls from the extensions of this protocol: ``submit(_:in:at:)``, ``claim(_:in:at:)``,
/// ``report(_:in:at:)`` and the others. A store whose steps run on a server writes them in the server's language; the
/// conformance suite holds it to the same answers.
public protocol DurableTable {
    /// Where fences and run ids come from: one number for the whole store, which only grows.
    var sequence: Int64 { get set }
    /// The highest generation of all rows that were deleted.
    var base: Int64 { get set }

    /// The row of a key, or nil if the key is at rest.
    mutating func find(_ key: [UInt8], in namespace: DurableNamespace) throws(DurableError) -> DurableEntry?
    /// Keeps a new row.
    mutating func insert(
        _ row: DurableRow, wake: CoreInstant, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError)
    /// Keeps a changed row: `new` has the handle and the key of `old`.
    mutating func update(
        _ new: DurableEntry, from old: DurableEntry, in namespace: DurableNamespace
    ) throws(DurableError)
    /// Deletes a row.
    mutating func delete(_ entry: DurableEntry, in namespace: DurableNamespace) throws(DurableError)

    /// The rows with the earliest `wake`, up to an instant, the earliest first.
    mutating func earliest(
        in namespace: DurableNamespace, through now: CoreInstant, limit: Int
    ) throws(DurableError) -> [DurableEntry]
    /// The earliest `wake` of all rows.
    mutating func nextWake(in namespace: DurableNamespace) throws(DurableError) -> CoreInstant?
    /// The rows whose runs are leased to a worker.
    mutating func held(by owner: Int64, in namespace: DurableNamespace) throws(DurableError) -> [DurableEntry]
    /// The keys of all rows, in the order in which they were inserted.
    mutating func keys(in namespace: DurableNamespace) throws(DurableError) -> [[UInt8]]
    /// The keys of the rows in which what is pending comes from a submitter alone, or from several; in that order, too.
    mutating func keys(
        submittedBy submitter: Int64, in namespace: DurableNamespace
    ) throws(DurableError) -> [[UInt8]]
    /// The bytes of the values of the run that an entry has, in order.
    mutating func values(
        ofRunIn entry: DurableEntry, in namespace: DurableNamespace
    ) throws(DurableError) -> [[UInt8]]
    /// The generation of one of the values that are ready, counted from 0; nil if the row itself holds them.
    mutating func generation(
        ofValue index: Int, in ready: DurableRow.Ready, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) -> Int64?
    /// Forgets the values of a range that are not held by the row itself.
    mutating func dropValues(
        of submits: ClosedRange<Int64>, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError)

    /// Counts attempts that begin, and leases that ended before their runs did: see ``DurableStatus``.
    mutating func count(attempts: Int, lostLeases: Int, in namespace: DurableNamespace) throws(DurableError)

    /// Keeps the end of a range, and forgets its values unless it is dead. An absorbed submit extends the key's latest
    /// absorbed range.
    mutating func record(
        _ ending: DurableEnding, of entry: DurableEntry, at now: CoreInstant, in namespace: DurableNamespace
    ) throws(DurableError)
    /// How a run of a key has ended, if it has.
    mutating func end(
        ofRun run: Int64, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) -> DurableEnding.How?
    /// How a submit of a key has ended, and the error if there was one.
    mutating func end(
        ofSubmit generation: Int64, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) -> (how: DurableEnding.How, error: String?)?
    /// The newest generation of a key that has an end, dead runs among them.
    mutating func newestEnd(of key: [UInt8], in namespace: DurableNamespace) throws(DurableError) -> Int64?

    /// A dead run with its values, which stays.
    mutating func findDead(
        _ run: Int64, in namespace: DurableNamespace
    ) throws(DurableError) -> (key: [UInt8], run: DurableRow.Run)?
    /// Takes a dead run out of the store; its values stay, if the row does not hold them, where it is to be tried
    /// again.
    ///
    /// - Returns: Whether it was there.
    mutating func takeDead(
        _ run: Int64, withValues: Bool, in namespace: DurableNamespace
    ) throws(DurableError) -> Bool

    /// The first answer that was given to a submit with this token.
    mutating func answer(
        to token: String, in namespace: DurableNamespace
    ) throws(DurableError) -> DurableReceipt?
    /// Keeps the answer to a submit with this token.
    mutating func remember(
        _ receipt: DurableReceipt, for token: String, at now: CoreInstant, in namespace: DurableNamespace
    ) throws(DurableError)

    /// Forgets some of the ends and tokens that are older than these instants. The ends of a key stay while it has a
    /// dead run, or one that may still die: they say whether that one is outdated.
    mutating func forget(
        endsBefore ended: CoreInstant, tokensBefore tokens: CoreInstant, in namespace: DurableNamespace
    ) throws(DurableError)
}

/// A namespace as the steps of a ``DurableTable`` are given it.
public struct DurableNamespace: Hashable, Sendable {
    /// The number by which the store knows it.
    public var id: Int64
    /// Its name.
    public var name: String
    /// Its rules, as it was opened last.
    public var rules: DurableRules

    /// Makes a namespace from what the store has of it.
    public init(id: Int64, name: String, rules: DurableRules) {
        self.id = id
        self.name = name
        self.rules = rules
    }
}

extension DurableNamespace {
    /// The rules of a namespace that is opened: durations and counts may change, the rest is refused.
    ///
    /// - Parameters:
    ///   - given: What is asked for; nil to take what is there.
    ///   - stored: What is there; nil if the namespace is new.
    package static func open(
        _ name: String, _ given: DurableRules?, stored: DurableRules?
    ) throws(DurableError) -> DurableRules {
        guard let rules = given ?? stored else { throw .noPolicy(namespace: name) }
        if let stored, stored.lasting != rules.lasting {
            throw .otherPolicy(namespace: name, stored: stored, given: rules)
        }
        return rules
    }

    /// For how long something is not due yet.
    package static func time(from now: CoreInstant, to due: CoreInstant) -> Duration {
        .nanoseconds(max(0, now.duration(to: due).nanoseconds))
    }
}

/// A row of a ``DurableTable``, with what the store keeps beside it.
public struct DurableEntry: Hashable, Sendable {
    /// The number by which the store finds it.
    public var handle: Int64
    /// The bytes of its key.
    public var key: [UInt8]
    /// What the key has pending, ready and running.
    public var row: DurableRow
    /// The only instant that a store needs an index on: never later than the first at which something can happen to the
    /// row. A submit moves it only earlier; a step that finds it too early moves it on.
    public var wake: CoreInstant

    /// Makes an entry from what the store has of it.
    public init(handle: Int64, key: [UInt8], row: DurableRow, wake: CoreInstant) {
        self.handle = handle
        self.key = key
        self.row = row
        self.wake = wake
    }
}
