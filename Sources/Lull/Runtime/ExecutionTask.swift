internal import Dispatch
internal import LullCore

/// The operation of a task, which runs on the actor on which it is called.
@usableFromInline package typealias TaskOperation<R> = nonisolated(nonsending) @Sendable () async throws -> R

/// Starts a task for an execution or other tracked work.
///
/// The task is detached: whether a timer or a caller's flush starts it, it inherits nothing of the caller's task.
@usableFromInline
package func launch<R: Sendable>(
    _ work: Work, _ observer: (any WorkObserver)?, on isolation: (any Actor)?, _ operation: @escaping TaskOperation<R>
) -> Task<R, any Error> {
    if let isolation {
        return Task.detached {
            try await Work.$current.withValue(work) { try await run(operation, of: work, observer, on: isolation) }
        }
    }
    // Without an observer the task has no executor preference: with one, even for none, each resumption takes a lock
    // (measured: a stream took half as long again).
    guard let observer else {
        return Task.detached { try await Work.$current.withValue(work) { try await operation() } }
    }
    return Task.detached(executorPreference: ObservedExecutor(work, observer)) {
        try await Work.$current.withValue(work) { try await operation() }
    }
}

/// The task of an execution, to be cancelled.
@usableFromInline
struct ExecutionTask: Sendable {
    private let task: Task<Void, any Error>
    private let work: Work
    private let observer: (any WorkObserver)?
    private let isolation: (any Actor)?

    @usableFromInline
    init(_ task: Task<Void, any Error>, _ work: Work, _ observer: (any WorkObserver)?, on isolation: (any Actor)?) {
        self.task = task
        self.work = work
        self.observer = observer
        self.isolation = isolation
    }

    /// Cancels the task. An observer sees it pause again only after it has reacted to the cancellation.
    @usableFromInline
    func cancel() {
        guard let observer, let isolation else { return task.cancel() }
        observer.resumed(work)
        task.cancel()
        Task { [work] in await reportPause(of: work, observer, on: isolation) }
    }
}

/// Runs an operation on an actor, and reports that it has paused when it first gives the actor up.
///
/// From its first line to its first suspension the operation has the actor to itself.
private func run<R: Sendable>(
    _ operation: TaskOperation<R>, of work: Work, _ observer: (any WorkObserver)?, on isolation: isolated any Actor
) async throws -> R {
    if let observer {
        observer.resumed(work)
        // The actor runs this task when the operation suspends or ends.
        Task { reportPause(of: work, observer, on: isolation) }
    }
    return try await operation()
}

private func reportPause(of work: Work, _ observer: any WorkObserver, on isolation: isolated any Actor) {
    observer.paused(work)
}

/// Runs one execution's jobs on a global queue, and reports when it resumes and when it pauses.
private final class ObservedExecutor: TaskExecutor {
    private let work: Work
    private let observer: any WorkObserver

    init(_ work: Work, _ observer: any WorkObserver) {
        self.work = work
        self.observer = observer
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        observer.resumed(work)
        DispatchQueue.global().async {
            job.runSynchronously(on: self.asUnownedTaskExecutor())
            self.observer.paused(self.work)
        }
    }
}
