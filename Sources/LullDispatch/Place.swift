internal import Dispatch
internal import Foundation

/// Work for a queue.
typealias QueueTask = @Sendable () -> Void

/// The queue that tasks run on.
struct Place: Sendable {
    let queue: DispatchQueue

    static let main = Place(.main)
    private static let mark = DispatchSpecificKey<ObjectIdentifier>()

    /// A queue, marked so that it is recognised.
    init(_ queue: DispatchQueue) {
        self.queue = queue
        queue.setSpecific(key: Self.mark, value: ObjectIdentifier(queue))
    }

    /// Whether the caller is on the queue.
    ///
    /// The main queue may be served by other threads than the first one, where a program has given that up; and the
    /// first thread may run without the main queue, before it serves it.
    var isHere: Bool {
        DispatchQueue.getSpecific(key: Self.mark) == ObjectIdentifier(queue)
            || (queue === DispatchQueue.main && Thread.isMainThread)
    }
}

/// Makes a task of the main actor one for the main queue, where it then has to run.
func onMainQueue(_ task: @escaping @MainActor @Sendable () -> Void) -> QueueTask {
    { MainActor.assumeIsolated(task) }
}

func onMainQueue(_ task: (@MainActor @Sendable () -> Void)?) -> QueueTask? {
    task.map { onMainQueue($0) }
}
