internal import Dispatch

/// What a task is to do, on the actor on which it is called.
@usableFromInline package typealias Job<R> = nonisolated(nonsending) @Sendable () async throws -> R

/// Starts the task of an execution.
///
/// It is a detached one: what was due belongs to no caller's task, whether a timer starts it or somebody's flush.
@usableFromInline
package func launch<R: Sendable>(
    _ work: Work, _ observer: (any WorkObserver)?, on isolation: (any Actor)?, _ job: @escaping Job<R>
) -> Task<R, any Error> {
    if let isolation {
        return Task.detached {
            try await Work.$current.withValue(work) { try await enter(work, observer, on: isolation, job) }
        }
    }
    // A job without isolation runs on the executor that its task prefers; one that watches sees where it pauses. A task made
    // with a preference, even for none, takes a lock each time it goes on (measured: a stream took half as long again).
    guard let observer else {
        return Task.detached { try await Work.$current.withValue(work) { try await job() } }
    }
    return Task.detached(executorPreference: WatchedExecutor(work, observer)) {
        try await Work.$current.withValue(work) { try await job() }
    }
}

/// The task of an execution that may have to be cancelled.
@usableFromInline
struct Launched: Sendable {
    private let task: Task<Void, any Error>
    private let work: Work
    private let observer: (any WorkObserver)?
    private let isolation: (any Actor)?

    @usableFromInline
    init(task: Task<Void, any Error>, work: Work, observer: (any WorkObserver)?, isolation: (any Actor)?) {
        self.task = task
        self.work = work
        self.observer = observer
        self.isolation = isolation
    }

    /// Cancels the task. Who watches it sees it pause again only when it has done what it does on being cancelled.
    @usableFromInline
    func cancel() {
        guard let observer, let isolation else { return task.cancel() }
        observer.resumed(work)
        task.cancel()
        Task { [work] in await pause(work, observer, on: isolation) }
    }
}

/// Runs a job on an actor, and says that it has paused when it lets go of the actor for the first time.
///
/// The job has the actor from its first line to the handler's first pause: nothing comes in between.
private func enter<R: Sendable>(
    _ work: Work, _ observer: (any WorkObserver)?, on isolation: isolated any Actor, _ job: Job<R>
) async throws -> R {
    if let observer {
        observer.resumed(work)
        // This task is enqueued at the actor, which is free for it when the job pauses or ends.
        Task { pause(work, observer, on: isolation) }
    }
    return try await job()
}

private func pause(_ work: Work, _ observer: any WorkObserver, on isolation: isolated any Actor) {
    observer.paused(work)
}

/// Runs the jobs of one execution on a global queue, and says when they run and when they pause or end.
private final class WatchedExecutor: TaskExecutor {
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
