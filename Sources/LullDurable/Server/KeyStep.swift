internal import Lull
internal import LullCore

/// A step on one key, and its caller.
///
/// `@unchecked Sendable`: its caller prepares it and gives it to the store's thread, which alone changes it until it
/// calls ``finish(_:)``; after that the caller reads it.
package class KeyStep: @unchecked Sendable {
    package typealias Instant = ContinuousClock.Instant

    package final let namespace: String
    package final let key: [UInt8]
    /// What it is known to need beside its row.
    package final var tokens: [String] = []
    package final var dead: Int64?
    /// About how much is sent with it.
    package final var bytes = 0
    /// Whether it is a worker's, which may work where there is no room for more.
    package final var isWorkers = false
    /// Where and until when it is made.
    package final var shard = 0
    package final var deadline = Instant.now
    /// Why it was not made.
    package final private(set) var failure: DurableError?
    /// How often others have changed the key while the step was made.
    final var conflicts = 0
    /// The steps whose answers the caller awaits together.
    fileprivate final var group: StepGroup?

    init(_ namespace: String, _ key: [UInt8]) { (self.namespace, self.key) = (namespace, key) }

    final var place: ShardPlace { ShardPlace(namespace, shard) }

    /// Makes the step, perhaps several times, and keeps its latest answer.
    func run(_ table: inout LoadedTable) {}

    /// Tells the caller that it was made, or why not.
    package final func finish(_ error: DurableError?) {
        failure = error
        let group = group
        self.group = nil
        group?.finish()
    }
}

/// A call as a step.
package final class KeyCall<Answer: Sendable>: KeyStep, @unchecked Sendable {
    private let body: @Sendable (inout LoadedTable) throws(DurableError) -> Answer
    private var latest: Result<Answer, DurableError> = .failure(.closed)

    package init(
        _ namespace: String, _ key: [UInt8],
        _ body: @escaping @Sendable (inout LoadedTable) throws(DurableError) -> Answer
    ) {
        self.body = body
        super.init(namespace, key)
    }

    override func run(_ table: inout LoadedTable) {
        do throws(DurableError) { latest = .success(try body(&table)) } catch { latest = .failure(error) }
    }

    /// The answer, when it has finished.
    package var answer: Result<Answer, DurableError> { failure.map { .failure($0) } ?? latest }
}

/// Steps that a caller awaits together.
final class StepGroup: Sendable {
    private let missing: Guarded<Int>
    private let done: @Sendable () -> Void

    init(_ steps: [KeyStep], _ done: @escaping @Sendable () -> Void) {
        missing = Guarded(steps.count)
        self.done = done
        for step in steps { step.group = self }
    }

    fileprivate func finish() {
        let isLast = missing.change { missing in
            missing -= 1
            return missing == 0
        }
        if isLast { done() }
    }
}
