package import LullCore

/// The rows of a store inside one atomic step, at one instant: of a whole store, or some that a server had.
///
/// A store brings these functions. The rules are in the extensions of this protocol, written once: the steps
/// (``submit(_:in:at:)``, ``claim(_:in:at:)``, ``report(_:in:at:)`` and the others).
package protocol DurableTable {
    /// A name of a row that costs little: its number, or its key.
    associatedtype Place: Sendable

    /// The present instant of the store's time.
    var now: CoreInstant { get }
    /// The least number that a submit gets: for a store that may lose its latest steps, a number that has grown since.
    var leastGeneration: Int64 { get }
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
    /// Returns the earliest `wake` of all rows; but for those that a claim does not take over, if one is given.
    mutating func nextWake(
        in namespace: DurableNamespace, besides claim: DurableClaim?
    ) throws(DurableError) -> CoreInstant?
    /// Returns the rows whose runs are leased to a worker.
    mutating func held(by owner: Int64, in namespace: DurableNamespace) throws(DurableError) -> [DurableEntry]
    /// Returns the places of the rows that a selection may include, in the order of their insertion.
    mutating func places(
        matching selection: DurableSelection, in namespace: DurableNamespace
    ) throws(DurableError) -> [Place]
    /// Returns the row at a place, or nil if there is none any more.
    mutating func entry(at place: Place, in namespace: DurableNamespace) throws(DurableError) -> DurableEntry?
    /// Returns the keys of the rows whose pending value comes from this submitter alone or from several, in the order
    /// of their insertion.
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

    /// Returns what the limit has counted: when the next run would start if all so far had been spread evenly. The far
    /// past if none has started. Asked only where the namespace has a limit.
    mutating func arrival(in namespace: DurableNamespace) throws(DurableError) -> CoreInstant
    /// Records the same.
    mutating func setArrival(_ arrival: CoreInstant, in namespace: DurableNamespace) throws(DurableError)
    /// Returns the places of the rows with runs that workers have, each with the end of its lease.
    mutating func leases(
        in namespace: DurableNamespace
    ) throws(DurableError) -> [(place: Place, until: CoreInstant)]

    /// Adds what has happened to a key in a step to the counters of a namespace.
    mutating func count(_ totals: DurableTotals, of key: [UInt8], in namespace: DurableNamespace) throws(DurableError)
    /// Takes note that workers have to look at their runs: see ``StoreCalls/interruptions(of:besides:in:atMost:)``.
    mutating func noteInterruption(in namespace: DurableNamespace)

    /// Records the end of a range, and deletes its values unless it is dead. An absorbed submit extends the key's
    /// latest absorbed range.
    mutating func record(
        _ ended: EndedSubmits, of entry: DurableEntry, at now: CoreInstant, in namespace: DurableNamespace
    ) throws(DurableError)
    /// Returns how a run of a key has ended; nil if it has not.
    mutating func end(
        ofRun run: Int64, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) -> EndKind?
    /// Returns how a submit of a key has ended, with the error if there was one; nil if it has not ended.
    mutating func end(
        ofSubmit generation: Int64, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) -> (how: EndKind, error: String?)?
    /// Returns the newest generation of a key that has ended, dead runs included.
    mutating func newestEnd(of key: [UInt8], in namespace: DurableNamespace) throws(DurableError) -> Int64?

    /// Returns a dead run with its values, and keeps it.
    mutating func findDead(
        _ run: Int64, in namespace: DurableNamespace
    ) throws(DurableError) -> (key: [UInt8], run: DurableRow.Run)?
    /// Removes a dead run. Without `withValues`, values that the row does not hold stay in the store, because the run
    /// is retried.
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

    /// Deletes some of the ends and tokens that are older than these instants. The ends of a key stay while it has a
    /// dead run, or a run that may still die: they decide whether that run is outdated.
    mutating func forget(
        endsBefore ended: CoreInstant, tokensBefore tokens: CoreInstant, in namespace: DurableNamespace
    ) throws(DurableError)
}

extension DurableTable {
    package var leastGeneration: Int64 { .min }
}

/// All rows of a store inside one atomic step, and what the calls of a ``RowStore`` make of them.
package protocol StoreTable: DurableTable {
    /// The same on the wall clock, for people.
    var wall: CoreInstant { get }
    /// How large values may be, and how long ends and tokens are kept.
    var limits: DurableLimits { get }

    // MARK: - Namespaces

    /// Returns a namespace with the rules that hold for all processes; throws ``DurableError/noPolicy(namespace:)`` if
    /// there is none.
    mutating func namespace(_ name: String) throws(DurableError) -> DurableNamespace
    /// Returns all namespaces, by name.
    mutating func namespaces() throws(DurableError) -> [DurableNamespace]
    /// Creates a namespace, or changes its rules.
    mutating func write(_ rules: DurableRules, of name: String, isNew: Bool) throws(DurableError)
    /// Writes the pause of a namespace; nil ends it.
    mutating func write(_ pause: DurablePause?, of namespace: DurableNamespace) throws(DurableError)
    /// Deletes some of a namespace that has no work, and at the end the namespace itself.
    ///
    /// - Returns: Whether nothing is left of it.
    mutating func removeSome(of namespace: DurableNamespace) throws(DurableError) -> Bool
    /// Deletes a few of the old ends and tokens, if that is due in this step: see ``forget(beyond:in:at:)``.
    mutating func forgetSome(in namespace: DurableNamespace) throws(DurableError)

    // MARK: - Questions

    /// See ``StoreCalls/status()``.
    mutating func status(of namespace: DurableNamespace) throws(DurableError) -> DurableStatus
    /// See ``StoreCalls/list(in:prefix:from:limit:)``: keys from `start` on, or, if it is empty, from the first one
    /// with the prefix.
    mutating func list(
        prefix: [UInt8], from start: [UInt8], limit: Int, in namespace: DurableNamespace
    ) throws(DurableError) -> [DurableListing<[UInt8]>]
    /// See ``StoreCalls/upcoming(in:limit:)``.
    mutating func upcoming(
        limit: Int, in namespace: DurableNamespace
    ) throws(DurableError) -> [DurableListing<[UInt8]>]
    /// See ``StoreCalls/ended(of:in:limit:)``.
    mutating func ended(
        of key: [UInt8]?, limit: Int, in namespace: DurableNamespace
    ) throws(DurableError) -> [DurableEnd<[UInt8]>]
    /// See ``StoreCalls/deadRuns(matching:in:newestFirst:limit:withValues:)``.
    mutating func deadRuns(
        matching selection: DurableSelection, newestFirst: Bool, limit: Int, withValues: Bool,
        in namespace: DurableNamespace
    ) throws(DurableError) -> [DurableDeadRun<[UInt8]>]
    /// See ``StoreCalls/deadRun(_:in:)``.
    mutating func deadRun(_ run: Int64, in namespace: DurableNamespace) throws(DurableError) -> DurableDeadRun<[UInt8]>?
    /// See ``StoreCalls/announce(_:in:)``.
    mutating func announce(_ worker: DurableWorker.Identity, in namespace: DurableNamespace) throws(DurableError)
    /// See ``StoreCalls/workers(in:)``.
    mutating func workers(of namespace: DurableNamespace) throws(DurableError) -> [DurableWorker]

    /// Removes and returns what was written that concerns workers, for the store's wake signal.
    mutating func takeWritten() -> WrittenWakes
}

/// A namespace, as an argument of the steps of a ``DurableTable``.
package struct DurableNamespace: Hashable, Sendable {
    /// The store's number of the namespace.
    package var id: Int64
    /// The name of the namespace.
    package var name: String
    /// The rules with which the namespace was last opened.
    package var rules: DurableRules
    /// Its latest pause, which may be over: see ``pause(at:)``.
    package var latestPause: DurablePause?

    /// Creates a namespace from what the store has of it.
    package init(id: Int64, name: String, rules: DurableRules, latestPause: DurablePause? = nil) {
        self.id = id
        self.name = name
        self.rules = rules
        self.latestPause = latestPause
    }
}

extension DurableNamespace {
    /// Returns its pause at an instant; nil if it is not paused.
    package func pause(at now: CoreInstant) -> DurablePause? { latestPause?.at(now) }

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

// The rules that hold, between any two steps, for everything that a store has of a key. Tests of stores check them.

extension DurableEntry {
    /// Returns the rules that do not hold; empty unless there is a bug.
    ///
    /// - Parameters:
    ///   - ends: The ended ranges of the key, dead ones among them.
    ///   - isComplete: Whether the store has deleted none of them.
    package func checkInvariants(
        ends: [ClosedRange<Int64>], isComplete: Bool, by rules: DurableRules
    ) -> [String] {
        var broken = row.checkInvariants()
        if row.isIdle { broken.append("an idle row is deleted") }
        if wake > row.wake(by: rules) { broken.append("it wakes at \(wake), not at \(row.wake(by: rules))") }
        let live = [row.run?.value.submits, row.ready?.submits, row.pendingSubmits].compactMap { $0 }
        // A dead run that was retried may be older than the row.
        let own = (ends + live).filter { $0.upperBound > row.born }
        var next = row.born
        for range in own.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            let isNext = range.lowerBound == next + 1
            if !isNext, !(range.lowerBound > next && !isComplete) { broken.append("\(range) follows \(next)") }
            next = range.upperBound
        }
        if isComplete ? next != row.generation : next > row.generation {
            broken.append("the newest submit is \(next), not \(row.generation)")
        }
        return broken.map { "\(String(decoding: key, as: UTF8.self)): \($0)" }
    }
}
