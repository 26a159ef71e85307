internal import Dispatch
internal import Foundation
internal import Lull

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
    /// For the main queue both conditions count: a program may have given up the first thread, and other threads serve
    /// the queue; and the first thread may run before it serves the queue.
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

extension Duration {
    /// Creates the delay of a single call: negative and NaN count as zero, infinity as the far future (<doc:Semantics>,
    /// section 10).
    init(delay seconds: TimeInterval) {
        if seconds.isNaN || seconds <= 0 {
            self = .zero
        } else {
            // Nanoseconds overflow beyond nine billion seconds, which is the far future anyway.
            self = .nanoseconds(seconds >= 9e9 ? .max : Int64(seconds * 1e9))
        }
    }

    /// Creates a setting. Unless it is finite and zero or more, the program stops with the value and the rule.
    init(setting seconds: TimeInterval, _ name: StaticString, at site: SourceSite) {
        require(
            seconds.isFinite && seconds >= 0, "the \(name) is \(seconds) s, but must be finite and zero or more",
            at: site)
        self.init(delay: seconds)
    }
}
