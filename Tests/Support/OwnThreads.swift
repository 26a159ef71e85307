internal import Dispatch
internal import Lull
public import Testing

/// Runs the tests of a suite on threads of their own, a few at a time.
///
/// For tests that compute for seconds, or block while they wait for processes. On the cooperative pool, which has as
/// many threads as there are cores, they would keep all other tests from running.
public struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
    /// Applies to the tests of a suite, not to the suite.
    public let isRecursive = true

    /// Runs a test on a thread of its own.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // A suite is not a test case: it has a scope only so that its tests have one.
        guard testCase != nil else { return try await function() }
        try await withTaskExecutorPreference(BlockingExecutor.next(), operation: function)
    }
}

extension Trait where Self == OwnThreads {
    /// Keeps tests that block or compute for long off the cooperative pool.
    public static var ownThreads: OwnThreads { OwnThreads() }
}

/// A serial queue as an executor: a test that blocks it delays only the tests with the same executor.
private final class BlockingExecutor: TaskExecutor {
    private static let all = (0..<3).map { _ in BlockingExecutor() }
    private static let count = Guarded(0)

    private let queue = DispatchQueue(label: "blocking tests")

    static func next() -> BlockingExecutor {
        let number = count.change { count in
            count += 1
            return count
        }
        return all[number % all.count]
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
