internal import Lull
internal import LullCore

/// A step on one key, and its caller.
package struct KeyStep: Sendable {
    package typealias Instant = ContinuousClock.Instant

    package let place: ShardPlace
    package let key: [UInt8]
    /// What it is known to need beside its row.
    package var tokens: [String] = []
    package var dead: Int64?
    /// About how much is sent with it.
    package var bytes = 0
    /// Whether it is a worker's.
    package var isWorkers = false
    package let deadline: Instant
    /// Makes the step, perhaps several times, and keeps its answer.
    package let run: @Sendable (inout LoadedTable) -> Void
    /// Gives the caller the latest answer, or an error.
    package let finish: @Sendable (DurableError?) -> Void
    /// How often others have changed the key while the step was made.
    fileprivate(set) var conflicts = 0

    fileprivate var id: ID { ID(place: place, key: key) }

    fileprivate struct ID: Hashable {
        let place: ShardPlace
        let key: [UInt8]
    }

    package init(
        _ place: ShardPlace, _ key: [UInt8], deadline: Instant, run: @escaping @Sendable (inout LoadedTable) -> Void,
        finish: @escaping @Sendable (DurableError?) -> Void
    ) {
        (self.place, self.key, self.deadline, self.run, self.finish) = (place, key, deadline, run, finish)
    }
}

/// The steps of a store on a server that have not been answered: which of them are made together, and which have to
/// wait.
///
/// Steps of one key are never in two batches at once, so they are made in the order of their calls. Those whose key
/// others have changed are made again in a batch of their own; after two such conflicts, with their keys taken.
package struct StepQueue {
    /// The most steps, and about the most bytes, in one batch.
    static let largestBatch = 256
    static let mostBytes = 4 << 20

    private var waiting: [KeyStep] = []
    private var keysInFlight: Set<KeyStep.ID> = []
    /// The steps whose keys are in a batch that has not been answered. They are not in `waiting`, so that looking for
    /// the next batch does not pass them again and again.
    private var held: [KeyStep.ID: [KeyStep]] = [:]

    package init() {}

    package var isEmpty: Bool { waiting.isEmpty && keysInFlight.isEmpty }
    var hasWaiting: Bool { !waiting.isEmpty }

    /// The earliest deadline of the steps that have not been sent.
    package var deadline: KeyStep.Instant? {
        ([waiting.first] + held.values.map(\.first)).compactMap { $0?.deadline }.min()
    }

    mutating func add(_ step: KeyStep) {
        let id = step.id
        if keysInFlight.contains(id) { held[id, default: []].append(step) } else { waiting.append(step) }
    }

    /// Takes the steps of the next batch: those that came first, in their order, in one shard of a namespace, and with
    /// as many conflicts.
    mutating func takeBatch() -> [KeyStep] {
        guard let first = waiting.first else { return [] }
        var batch: [KeyStep] = []
        var rest: [KeyStep] = []
        var bytes = 0
        func kind(_ step: KeyStep) -> Int { min(step.conflicts, 2) }
        for step in waiting {
            let isFull = batch.count == Self.largestBatch || bytes > Self.mostBytes
            if isFull || step.place != first.place || kind(step) != kind(first) {
                rest.append(step)
            } else {
                batch.append(step)
                bytes += step.bytes
            }
        }
        keysInFlight.formUnion(batch.map(\.id))
        waiting = []
        for step in rest { add(step) }
        return batch
    }

    /// Whether the keys of a batch are taken, so that others wait for it.
    static func takes(_ batch: [KeyStep]) -> Bool { batch.first?.conflicts ?? 0 >= 2 }

    /// Notes that a batch has been answered, but for steps that are made again: before later ones of their keys.
    mutating func finish(_ batch: [KeyStep], repeating conflicted: [KeyStep]) {
        let ids = Set(batch.map(\.id))
        keysInFlight.subtract(ids)
        for id in ids {
            if let steps = held.removeValue(forKey: id) { waiting.insert(contentsOf: steps, at: 0) }
        }
        waiting.insert(
            contentsOf: conflicted.map { step in
                var step = step
                step.conflicts += 1
                return step
            }, at: 0)
    }

    /// Takes the steps whose time is up before they were sent.
    package mutating func takeExpired(at now: KeyStep.Instant) -> [KeyStep] {
        guard let deadline, deadline <= now else { return [] }
        var expired = waiting.filter { $0.deadline <= now }
        waiting.removeAll { $0.deadline <= now }
        for (id, steps) in held {
            expired += steps.filter { $0.deadline <= now }
            held[id] = steps.filter { $0.deadline > now }
        }
        return expired
    }
}
