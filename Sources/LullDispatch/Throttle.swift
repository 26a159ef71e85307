public import Foundation
internal import Lull

/// Delays work for an operation queue, and keeps only the newest.
public enum Throttle {
    /// Runs a function on an operation queue after a delay, in place of the one that waits there.
    ///
    /// ```swift
    /// Throttle.onQueue(.main, by: 0.3) { search(field.text) }     // at every key
    /// ```
    ///
    /// Calling it again on the same queue replaces what waits and starts the delay again: whatever its name, it is a
    /// debounce. The delay is kept off the queue, so that nothing of others waits behind it, and other people's work on
    /// the queue is not touched. What has run out of its delay and finds the queue busy waits there, and is replaced
    /// there too; what is executing is let be, and what falls due meanwhile follows when it has ended.
    ///
    /// It may be called from any thread. A call costs a few locks; one timer serves all queues, and an operation is
    /// made only when a delay has run out.
    ///
    /// - Parameters:
    ///   - queue: Where the function runs.
    ///   - delay: In seconds, from now; negative and NaN count as zero, infinity as never.
    ///   - leading: Whether the function runs at once when none of ours waits or runs on the queue, so that only what
    ///     follows is delayed.
    ///   - function: What runs.
    public static func onQueue(
        _ queue: OperationQueue, by delay: TimeInterval, leading: Bool = false, function: @escaping @Sendable () -> Void
    ) {
        QueueThrottle.shared.onQueue(queue, by: delay, leading: leading, function: function)
    }

    /// Drops what waits on an operation queue; what is executing is let be.
    public static func cancel(onQueue queue: OperationQueue) {
        QueueThrottle.shared.cancel(queue)
    }
}

/// The delays of all operation queues.
final class QueueThrottle: Sendable {
    static let shared = QueueThrottle(clock: ContinuousClock())

    private final class Call: Sendable {
        let queue: OperationQueue
        let function: @Sendable () -> Void

        init(_ queue: OperationQueue, _ function: @escaping @Sendable () -> Void) {
            self.queue = queue
            self.function = function
        }
    }

    private let debouncer: KeyedDebouncer<ObjectIdentifier, Call, Void>
    /// What waits, by queue, kept here so that what is replaced can be released outside the lock: a function may own
    /// objects that call the throttle when they go. Held from the question whether a queue is idle until its work is on
    /// its way.
    private let waiting = Guarded<[ObjectIdentifier: Call]>([:])

    init(clock: any Clock<Duration>) {
        // The only failure is an operation that somebody else has cancelled on its queue, and that was meant to be.
        debouncer = KeyedDebouncer(for: .zero, clock: clock, onFailure: { _, _ in }) { [waiting] key, call in
            waiting.change { waiting in
                if waiting[key] === call { waiting[key] = nil }
            }
            try await run(call.function, on: call.queue)
        }
    }

    func onQueue(
        _ queue: OperationQueue, by delay: TimeInterval, leading: Bool, function: @escaping @Sendable () -> Void
    ) {
        let key = ObjectIdentifier(queue)
        let call = Call(queue, function)
        let replaced = waiting.change { waiting in
            let isIdle = debouncer.isIdle(key)
            // An operation of ours that waits on the queue goes; one that executes cannot be interrupted and goes on.
            debouncer.cancel(key, running: true)
            debouncer.submit(call, for: key, after: Duration(delay: delay))
            if leading, isIdle { debouncer.flush(key) }
            return waiting.updateValue(call, forKey: key)
        }
        withExtendedLifetime(replaced) {}
    }

    func cancel(_ queue: OperationQueue) {
        let dropped = waiting.change { waiting in
            debouncer.cancel(ObjectIdentifier(queue), running: true)
            return waiting.removeValue(forKey: ObjectIdentifier(queue))
        }
        withExtendedLifetime(dropped) {}
    }

    /// What has become of everything, for tests.
    var counters: Counters { debouncer.counters }
}

/// Runs a function as an operation, and returns when it has ended.
///
/// - Throws: `CancellationError` if the operation was cancelled before it began.
private func run(_ function: @escaping @Sendable () -> Void, on queue: OperationQueue) async throws {
    let hasRun = Guarded(false)
    let operation = BlockOperation {
        _ = hasRun.exchange(true)
        function()
    }
    await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
            operation.completionBlock = { continuation.resume() }
            queue.addOperation(operation)
        }
    } onCancel: {
        operation.cancel()
    }
    if !hasRun.value { throw CancellationError() }
}
