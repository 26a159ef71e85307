public import Foundation
internal import Lull

/// Delays work for an operation queue, and runs only the newest.
///
/// ```swift
/// Throttle.onMainQueue(by: 0.3) { results.search(field.text) }     // at every key
/// ```
///
/// Despite its name it is a debounce unless it is called with `leading: true`; what differs from utilities of the same
/// name is in <doc:ComingFrom>.
public enum Throttle {
    /// Runs a function on an operation queue after a delay, in place of the one that waits there.
    ///
    /// Calling it again on the same queue replaces what waits and starts the delay again: whatever its name, without
    /// `leading` it is a debounce. With `leading`, the function runs at once if no function of this throttle waits or
    /// runs on the queue, and a delay follows its end; of the calls that come meanwhile the last one runs when that is
    /// over, and a delay follows again. So two such functions never begin less than `delay` apart.
    ///
    /// The delay is kept off the queue: other work does not wait behind it, and is not touched. What has run out of its
    /// delay and finds the queue busy waits there, and is replaced there too, unless it has `leading`. What is
    /// executing runs to its end, and what falls due meanwhile follows.
    ///
    /// It may be called from any thread. A call costs a few locks; all queues share two debouncers, and an operation is
    /// made only when a delay has run out. For the main queue there is ``onMainQueue(by:leading:function:)``.
    ///
    /// - Parameters:
    ///   - queue: Where the function runs.
    ///   - delay: In seconds; negative and NaN count as zero, infinity as never. From now, and with `leading` from the
    ///     end of the function.
    ///   - leading: Whether the function runs at once and is delayed only if others have run, or wait to run, before
    ///     it. Such a call takes the place of one without it that waits, and runs when that would have run.
    ///   - function: What runs.
    public static func onQueue(
        _ queue: OperationQueue, by delay: TimeInterval, leading: Bool = false, function: @escaping @Sendable () -> Void
    ) {
        QueueThrottle.shared.onQueue(queue, by: delay, leading: leading, function: function)
    }

    /// Runs a function of the main actor on the main operation queue after a delay, in place of the one that waits
    /// there.
    ///
    /// All else is as in the form for any queue.
    ///
    /// - Parameters:
    ///   - delay: In seconds; negative and NaN count as zero, infinity as never.
    ///   - leading: Whether the function runs at once and is delayed only if others have run, or wait to run, before
    ///     it.
    ///   - function: What runs.
    public static func onMainQueue(
        by delay: TimeInterval, leading: Bool = false, function: @escaping @MainActor @Sendable () -> Void
    ) {
        onQueue(.main, by: delay, leading: leading, function: LullDispatch.onMainQueue(function))
    }

    /// Drops what waits for an operation queue, and the delay that follows what has run. What is executing runs to its
    /// end.
    ///
    /// - Parameter queue: The queue that the functions were given for; `.main` for
    ///   ``onMainQueue(by:leading:function:)``.
    public static func cancel(onQueue queue: OperationQueue) {
        QueueThrottle.shared.cancel(queue)
    }
}

/// The delays of all operation queues.
///
/// An execution of the debouncer lasts as long as nothing else of ours may run on the queue: until the function has run
/// and, with `leading`, its delay is over. What comes meanwhile waits as it does for any handler (semantics, section
/// 7).
final class QueueThrottle: Sendable {
    static let shared = QueueThrottle(clock: ContinuousClock())

    private final class Call: Sendable {
        let queue: OperationQueue
        let delay: Duration
        let isLeading: Bool
        let function: @Sendable () -> Void

        init(_ queue: OperationQueue, _ delay: Duration, _ isLeading: Bool, _ function: @escaping @Sendable () -> Void)
        {
            self.queue = queue
            self.delay = delay
            self.isLeading = isLeading
            self.function = function
        }
    }

    /// What is known of a queue.
    private struct Line {
        /// The newest call, until its turn has come. Kept also so that what is replaced can be released outside the
        /// lock: a function may own objects that call the throttle when they go.
        var newest: Call?
        /// A call without `leading` whose operation is on the queue. It may be replaced there.
        var replaceable: Call?

        /// A call's turn has come.
        ///
        /// - Returns: Whether it is to run. One with `leading` always is: it was promised to run when it started.
        mutating func begin(_ call: Call) -> Bool {
            let isNewest = newest === call
            if isNewest { newest = nil }
            if isNewest, !call.isLeading { replaceable = call }
            return isNewest || call.isLeading
        }

        /// What is left when a call has ended; nil if that is nothing.
        func without(_ call: Call) -> Line? {
            let left = Line(newest: newest, replaceable: replaceable === call ? nil : replaceable)
            return left.newest == nil && left.replaceable == nil ? nil : left
        }
    }

    private let debouncer: KeyedDebouncer<ObjectIdentifier, Call, Void>
    /// Held while a call is put in the place of others, so that calls do not mix.
    private let lines: Guarded<[ObjectIdentifier: Line]>

    init(clock: any Clock<Duration>) {
        let lines = Guarded<[ObjectIdentifier: Line]>([:])
        self.lines = lines
        let delays = KeyedDebouncer(for: .zero, on: .global(), clock: clock) { (_: ObjectIdentifier, _: Void) in }
        // The only failure is an operation that somebody else has cancelled on its queue, and that was meant to be.
        debouncer = KeyedDebouncer(for: .zero, clock: clock, onFailure: { _, _ in }) { key, call in
            defer { lines.change { $0[key] = $0[key]?.without(call) } }
            guard lines.change({ $0[key]?.begin(call) }) ?? call.isLeading else { return }
            try await run(call.function, on: call.queue)
            if call.isLeading { _ = try await delays.outcome(of: (), for: key, after: call.delay) }
        }
    }

    func onQueue(
        _ queue: OperationQueue, by delay: TimeInterval, leading: Bool, function: @escaping @Sendable () -> Void
    ) {
        let key = ObjectIdentifier(queue)
        let call = Call(queue, Duration(delay: delay), leading, function)
        let replaced = lines.change { lines in
            // An operation that executes cannot be interrupted and goes on.
            let replaces = lines[key]?.replaceable != nil
            if leading {
                let rest = debouncer.timeUntilDue(key) ?? .zero
                if replaces { debouncer.cancel(key, includingRunning: true) }
                debouncer.submit(call, for: key, after: rest)
                if rest == .zero { debouncer.flush(key) }
            } else {
                debouncer.cancel(key, includingRunning: replaces)
                debouncer.submit(call, for: key, after: call.delay)
            }
            let replaced = lines[key]?.newest
            lines[key, default: Line()].newest = call
            return replaced
        }
        withExtendedLifetime(replaced) {}
    }

    func cancel(_ queue: OperationQueue) {
        let dropped = lines.change { lines in
            debouncer.cancel(ObjectIdentifier(queue), includingRunning: true)
            return lines.removeValue(forKey: ObjectIdentifier(queue))
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
