internal import Lull

/// The submits of a store on a server that have not been answered: which of them are sent together, and which have to
/// wait.
///
/// Submits of one key are never in two batches at once, so they are recorded in the order of their calls. A key that
/// another transaction has locked is repeated alone.
package struct SubmitQueue {
    package typealias Instant = ContinuousClock.Instant

    /// A submit, and its caller.
    package struct Entry: Sendable {
        package let submission: DurableSubmission
        /// The part of the namespace in which the server has the key: a batch is for one of them.
        package let shard: Int
        package let deadline: Instant
        package let answer: @Sendable (Result<DurableReceipt, DurableError>) -> Void

        package init(
            submission: DurableSubmission, shard: Int = 0, deadline: Instant,
            answer: @escaping @Sendable (Result<DurableReceipt, DurableError>) -> Void
        ) {
            self.submission = submission
            self.shard = shard
            self.deadline = deadline
            self.answer = answer
        }

        fileprivate var id: KeyID { KeyID(namespace: submission.namespace, key: submission.key) }
    }

    fileprivate struct KeyID: Hashable {
        let namespace: String
        let key: [UInt8]
    }

    package init() {}

    /// The most submits, and about the most bytes, in one batch.
    static let largestBatch = 256
    static let mostBytes = 4 << 20

    private var waiting: [Entry] = []
    private var keysInFlight: Set<KeyID> = []
    /// The submits whose keys are in a batch that has not been answered. They are not in `waiting`, so that looking for
    /// the next batch does not pass them again and again.
    private var held: [KeyID: [Entry]] = [:]
    /// The submits of keys that another transaction has locked, the keys in the order in which they are tried.
    private var locked: [KeyID: [Entry]] = [:]
    private var lockedKeys: [KeyID] = []

    package var isEmpty: Bool { waiting.isEmpty && locked.isEmpty && keysInFlight.isEmpty }
    package var hasWaiting: Bool { !waiting.isEmpty }

    /// The earliest deadline of the submits that have not been sent.
    package var deadline: Instant? {
        let firsts = [waiting.first] + held.values.map(\.first) + locked.values.map(\.first)
        return firsts.compactMap { $0?.deadline }.min()
    }

    package mutating func add(_ entry: Entry) {
        let id = entry.id
        if locked[id] != nil {
            locked[id]?.append(entry)
        } else if keysInFlight.contains(id) {
            held[id, default: []].append(entry)
        } else {
            waiting.append(entry)
        }
    }

    /// Takes the submits of the next batch: of one shard of a namespace, those that came first, in their order.
    package mutating func takeBatch() -> [Entry] {
        guard let first = waiting.first else { return [] }
        var batch: [Entry] = []
        var rest: [Entry] = []
        var bytes = 0
        for entry in waiting {
            let isFull = batch.count == Self.largestBatch || bytes > Self.mostBytes
            if isFull || entry.shard != first.shard || entry.submission.namespace != first.submission.namespace {
                rest.append(entry)
            } else {
                batch.append(entry)
                bytes += entry.submission.value.count
            }
        }
        keysInFlight.formUnion(batch.map(\.id))
        waiting = []
        for entry in rest { add(entry) }
        return batch
    }

    /// Takes the submits of the next key that another transaction has locked.
    package mutating func takeLockedKey() -> [Entry] {
        guard let id = lockedKeys.first(where: { !keysInFlight.contains($0) }), let entries = locked[id] else {
            return []
        }
        lockedKeys.removeAll { $0 == id }
        lockedKeys.append(id)
        keysInFlight.insert(id)
        let batch = Array(entries.prefix(Self.largestBatch))
        locked[id] = Array(entries.dropFirst(batch.count))
        return batch
    }

    /// Notes that a batch has been answered. Those of its submits whose keys are locked are to be repeated.
    package mutating func finish(_ batch: [Entry], repeating busy: [Entry]) {
        let ids = Set(batch.map(\.id))
        keysInFlight.subtract(ids)
        for entry in busy.reversed() {
            let id = entry.id
            if locked[id] == nil {
                lockedKeys.append(id)
                // Later ones of the key, too, or they would overtake it.
                locked[id] = held.removeValue(forKey: id) ?? []
            }
            locked[id]?.insert(entry, at: 0)
        }
        for id in ids {
            if let entries = held.removeValue(forKey: id) { waiting.insert(contentsOf: entries, at: 0) }
            guard locked[id]?.isEmpty == true else { continue }
            locked[id] = nil
            lockedKeys.removeAll { $0 == id }
        }
    }

    /// Takes the submits whose time is up before they were sent, and those of locked keys.
    package mutating func takeExpired(at now: Instant) -> (unsent: [Entry], locked: [Entry]) {
        guard let deadline, deadline <= now else { return ([], []) }
        var unsent = waiting.filter { $0.deadline <= now }
        waiting.removeAll { $0.deadline <= now }
        for (id, entries) in held {
            unsent += entries.filter { $0.deadline <= now }
            held[id] = entries.filter { $0.deadline > now }
        }
        var expired: [Entry] = []
        for id in lockedKeys where !keysInFlight.contains(id) {
            expired += locked[id]?.filter { $0.deadline <= now } ?? []
            locked[id]?.removeAll { $0.deadline <= now }
            if locked[id]?.isEmpty == true { locked[id] = nil }
        }
        lockedKeys.removeAll { locked[$0] == nil }
        return (unsent, expired)
    }

    /// Returns submits in the order of their keys, and those of one key in the order of the calls.
    package static func sortedByKey(_ batch: [Entry]) -> [Entry] {
        let keys = batch.map(\.submission.key)
        let order = keys.indices.sorted { left, right in
            keys[left] == keys[right] ? left < right : keys[left].lexicographicallyPrecedes(keys[right])
        }
        return order.map { batch[$0] }
    }
}

extension SubmitQueue {
    /// Makes submits together, and waits until each has been answered.
    ///
    /// - Parameter add: Adds the submit with an index to the queue of the store's thread, or answers it at once.
    package static func answers(
        count: Int, _ add: (Int, @escaping @Sendable (Result<DurableReceipt, DurableError>) -> Void) -> Void
    ) async -> [Result<DurableReceipt, DurableError>] {
        await withCheckedContinuation { continuation in
            let answers = Guarded(BatchAnswers(count: count))
            for index in 0..<count {
                add(index) { result in
                    guard let all = answers.change({ $0.add(result, at: index) }) else { return }
                    continuation.resume(returning: all)
                }
            }
        }
    }
}

/// The answers to submits that were made together.
private struct BatchAnswers: Sendable {
    private var answers: [Result<DurableReceipt, DurableError>?]
    private var missing: Int

    init(count: Int) {
        answers = Array(repeating: nil, count: count)
        missing = count
    }

    /// Adds an answer, and returns all of them if it was the last one.
    mutating func add(
        _ answer: Result<DurableReceipt, DurableError>, at index: Int
    ) -> [Result<DurableReceipt, DurableError>]? {
        answers[index] = answer
        missing -= 1
        return missing == 0 ? answers.compactMap(\.self) : nil
    }
}
