internal import Dispatch

/// The operation of a task, which runs on the actor on which it is called.
package typealias TaskOperation = nonisolated(nonsending) @Sendable () async throws -> Void

/// Starts a task for an execution or other tracked work.
///
/// The task is detached: whether a timer or a caller's flush starts it, it inherits nothing of the caller's task.
///
/// - Parameter executor: Where it runs if nobody observes the work; nil for the cooperative pool.
package func launch(
    _ work: Work, _ observer: (any WorkObserver)?, on isolation: (any Actor)?,
    preferring executor: (any TaskExecutor)? = nil, _ operation: @escaping TaskOperation
) -> Task<Void, any Error> {
    // Without an observer the task has no executor preference: with one, even for none, each resumption takes a lock
    // (measured: a stream took half as long again).
    guard let observer else {
        if let executor {
            return Task.detached(executorPreference: executor) {
                try await Work.$current.withValue(work) { try await operation() }
            }
        }
        guard let isolation else {
            return Task.detached { try await Work.$current.withValue(work) { try await operation() } }
        }
        return Task.detached { try await Work.$current.withValue(work) { try await run(operation, on: isolation) } }
    }
    let executor = ObservedExecutor(work, observer)
    return Task.detached(executorPreference: executor) {
        try await Work.$current.withValue(work) {
            try await run(operation, on: isolation) { executor.entered(on: isolation) }
        }
    }
}

/// Runs an operation on an actor, or on none.
private func run(
    _ operation: TaskOperation, on isolation: isolated (any Actor)?, entered: () -> Void = {}
) async throws {
    entered()
    try await operation()
}

/// Runs the jobs of one execution's task and of its child tasks, and reports when one is to run and when it has run.
///
/// These are the jobs without an actor, and those on actors that have no executor of their own: they use the task's.
package final class ObservedExecutor: TaskExecutor {
    private let work: Work
    private let observer: any WorkObserver

    package init(_ work: Work, _ observer: any WorkObserver) {
        self.work = work
        self.observer = observer
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        observer.resumed(work, isUnseen: isUnseen)
        Self.queue.async {
            job.runSynchronously(on: self.asUnownedTaskExecutor())
            self.observer.paused(self.work)
        }
    }

    /// Whether the job comes from a place of which nothing is reported, other than the main actor: from another
    /// executor, or from a callback. No task is current there: one that changes executors is not, while one that
    /// resumes another is.
    private var isUnseen: Bool {
        !Self.isCurrent && withUnsafeCurrentTask { $0 == nil }
    }

    /// Reports that the operation is entered. The caller is on the actor.
    package func entered(on isolation: (any Actor)?) {
        observer.entered(work, on: Self.isCurrent ? nil : isolation)
    }

    /// Whether the caller is in a job of such an executor, or of the main actor's.
    private static var isCurrent: Bool { DispatchQueue.getSpecific(key: seen) != nil }

    private static let queue = DispatchQueue(label: "Lull.ObservedExecutor", attributes: .concurrent)

    /// Marks the queues.
    private static let seen: DispatchSpecificKey<Void> = {
        let key = DispatchSpecificKey<Void>()
        for queue in [queue, .main] { queue.setSpecific(key: key, value: ()) }
        return key
    }()
}
