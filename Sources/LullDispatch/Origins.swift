public import Foundation

/// The utilities of LullDispatch that keep the name of their origin, though it means something else here.
public enum Origins {
    /// Delays functions for an operation queue, and runs only the newest.
    ///
    /// ```swift
    /// Origins.Throttle.onMainQueue(by: 0.3) { results.search(field.text) }     // at every key
    /// ```
    ///
    /// Despite its name it is a debounce unless it is called with `leading: true`. <doc:ComingFrom> lists the
    /// differences from utilities of the same name.
    public enum Throttle {}
}

extension Origins.Throttle {
    /// Runs a function on an operation queue after a delay, in place of the one that waits there.
    ///
    /// Calling it again on the same queue replaces what waits and restarts the delay: without `leading` it is a
    /// debounce, despite its name. With `leading`, the function runs at once if no function of this throttle waits or
    /// runs on the queue, and a delay follows its end. Of the calls during that time, the last one runs when the delay
    /// is over, and a delay follows again. So two such functions never begin less than `delay` apart.
    ///
    /// The delay does not occupy the queue: other work does not wait behind it, and is not affected. A function whose
    /// delay is over and that finds the queue busy waits there, and can be replaced there, too, unless it has
    /// `leading`. A function that is executing runs to its end, and what falls due meanwhile follows.
    ///
    /// It may be called from any thread. A call costs a few locks. All queues share two debouncers, and an operation is
    /// created only when a delay is over. For the main queue use ``onMainQueue(by:leading:function:)``.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the function runs.
    ///   - delay: The delay in seconds; negative and NaN count as zero, infinity as never. It counts from now, and with
    ///     `leading` from the end of the function.
    ///   - leading: Whether the function runs at once and is delayed only if others have run, or wait to run, before
    ///     it. Such a call replaces a waiting call without `leading`, and runs when that would have run.
    ///   - function: The function.
    public static func onQueue(
        _ queue: OperationQueue, by delay: TimeInterval, leading: Bool = false, function: @escaping @Sendable () -> Void
    ) {
        QueueThrottle.shared.onQueue(queue, by: delay, leading: leading, function: function)
    }

    /// Runs a function of the main actor on the main operation queue after a delay, in place of the one that waits
    /// there.
    ///
    /// Everything else is as in the form for any queue.
    ///
    /// - Parameters:
    ///   - delay: The delay in seconds; negative and NaN count as zero, infinity as never.
    ///   - leading: Whether the function runs at once and is delayed only if others have run, or wait to run, before
    ///     it.
    ///   - function: The function.
    public static func onMainQueue(
        by delay: TimeInterval, leading: Bool = false, function: @escaping @MainActor @Sendable () -> Void
    ) {
        onQueue(.main, by: delay, leading: leading, function: LullDispatch.onMainQueue(function))
    }

    /// Drops the function that waits for an operation queue, and the delay that follows one that has run. A function
    /// that is executing runs to its end.
    ///
    /// - Parameter queue: The queue of the functions; `.main` for
    ///   ``onMainQueue(by:leading:function:)``.
    public static func cancel(onQueue queue: OperationQueue) {
        QueueThrottle.shared.cancel(queue)
    }
}
