internal import Dispatch
internal import Foundation

/// Work for a queue.
typealias QueueTask = @Sendable () -> Void

/// The queue on which tasks run.
struct TargetQueue: Sendable {
    let queue: DispatchQueue

    static let main = TargetQueue(.main)
    private static let identity = DispatchSpecificKey<ObjectIdentifier>()

    /// Marks the queue, so that ``isCurrent`` recognises it.
    init(_ queue: DispatchQueue) {
        self.queue = queue
        queue.setSpecific(key: Self.identity, value: ObjectIdentifier(queue))
    }

    /// Whether the caller runs on the queue.
    ///
    /// For the main queue both conditions count: a program may have given up the first thread, and other threads serve the
    /// queue; and the first thread may run before it serves the queue.
    var isCurrent: Bool {
        DispatchQueue.getSpecific(key: Self.identity) == ObjectIdentifier(queue)
            || (queue === DispatchQueue.main && Thread.isMainThread)
    }
}

/// Converts a task of the main actor to one for the main queue, on which it then has to run.
func onMainQueue(_ task: @escaping @MainActor @Sendable () -> Void) -> QueueTask {
    { MainActor.assumeIsolated(task) }
}

func onMainQueue(_ task: (@MainActor @Sendable () -> Void)?) -> QueueTask? {
    task.map { onMainQueue($0) }
}
