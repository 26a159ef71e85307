internal import Dispatch

/// Runs the jobs of one execution's task and of its child tasks, and reports when one is to run and when it has run.
///
/// These are the jobs without an actor, and those on actors that have no executor of their own: they use the task's.
package final class ObservedExecutor: TaskExecutor {
    private let work: TrackedWork
    private let observer: any WorkObserver

    package init(_ work: TrackedWork, _ observer: any WorkObserver) {
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
