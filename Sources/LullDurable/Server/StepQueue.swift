internal import Lull

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
    /// The keys in a batch that has not been answered, each with the steps that wait for that. They are not in
    /// `waiting`, so that looking for the next batch does not pass them again and again.
    private var held: [ID: [KeyStep]] = [:]

    private struct ID: Hashable {
        let step: KeyStep

        static func == (left: ID, right: ID) -> Bool {
            left.step.key == right.step.key && left.step.shard == right.step.shard
                && left.step.namespace == right.step.namespace
        }

        /// Few keys are in several namespaces.
        func hash(into hasher: inout Hasher) { step.key.withUnsafeBytes { hasher.combine(bytes: $0) } }
    }

    package init() {}

    package var isEmpty: Bool { waiting.isEmpty && held.isEmpty }
    var hasWaiting: Bool { !waiting.isEmpty }

    /// The earliest deadline of the steps that have not been sent, or an earlier one of a step that was sent meanwhile:
    /// that costs a look after its time, and nothing before.
    package private(set) var deadline: KeyStep.Instant?

    private mutating func noteDeadline(of step: KeyStep) { deadline = min(step.deadline, deadline ?? step.deadline) }

    mutating func add(_ step: KeyStep) {
        noteDeadline(of: step)
        guard !held.isEmpty, let index = held.index(forKey: ID(step: step)) else { return waiting.append(step) }
        held.values[index].append(step)
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
            if isFull || step.shard != first.shard || step.namespace != first.namespace || kind(step) != kind(first) {
                rest.append(step)
            } else {
                batch.append(step)
                bytes += step.bytes
            }
        }
        for step in batch { held[ID(step: step)] = [] }
        waiting = []
        for step in rest { add(step) }
        return batch
    }

    /// Whether the keys of a batch are taken, so that others wait for it.
    static func takes(_ batch: [KeyStep]) -> Bool { batch.first?.conflicts ?? 0 >= 2 }

    /// Notes that a batch has been answered, but for steps that are made again: before later ones of their keys.
    mutating func finish(_ batch: [KeyStep], repeating conflicted: [KeyStep]) {
        var next = conflicted
        for step in conflicted { step.conflicts += 1 }
        for step in batch {
            if let steps = held.removeValue(forKey: ID(step: step)), !steps.isEmpty { next += steps }
        }
        for step in next { noteDeadline(of: step) }
        if !next.isEmpty { waiting.insert(contentsOf: next, at: 0) }
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
        self.deadline = nil
        for step in waiting { noteDeadline(of: step) }
        for step in held.values.joined() { noteDeadline(of: step) }
        return expired
    }
}
