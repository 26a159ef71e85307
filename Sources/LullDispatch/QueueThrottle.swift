internal import Foundation
internal import Lull

/// The delays of all operation queues.
///
/// An execution of the debouncer lasts as long as no other function of the throttle may run on the queue: until the
/// function has run and, with `leading`, its delay is over. Calls that arrive meanwhile wait as they do for any handler
/// (semantics, section 7).
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

    /// The calls of one queue.
    private struct Calls {
        /// The newest call, until it begins. Retained also so that a replaced call can be released outside the lock: a
        /// function may own objects that call the throttle when they are deinitialised.
        var newest: Call?
        /// A call without `leading` whose operation is on the queue. It may be replaced there.
        var replaceable: Call?

        /// Begins a call that has fallen due.
        ///
        /// - Returns: Whether it is to run. A call with `leading` always is: it was certain to run when it was made.
        mutating func begin(_ call: Call) -> Bool {
            let isNewest = newest === call
            if isNewest { newest = nil }
            if isNewest, !call.isLeading { replaceable = call }
            return isNewest || call.isLeading
        }

        /// Returns the calls that are left when one has ended; nil if none is.
        func without(_ call: Call) -> Calls? {
            let left = Calls(newest: newest, replaceable: replaceable === call ? nil : replaceable)
            return left.newest == nil && left.replaceable == nil ? nil : left
        }
    }

    private let debouncer: KeyedDebouncer<ObjectIdentifier, Call, Void>
    /// Locked while a call replaces others, so that concurrent calls do not interleave.
    private let calls: Guarded<[ObjectIdentifier: Calls]>

    init(clock: any Clock<Duration>) {
        let calls = Guarded<[ObjectIdentifier: Calls]>([:])
        self.calls = calls
        let delays = KeyedDebouncer(for: .zero, on: .global(), clock: clock) { (_: ObjectIdentifier, _: Void) in }
        // The only failure is an operation that the program has cancelled on its queue, which is no failure of the
        // handler.
        debouncer = KeyedDebouncer(for: .zero, clock: clock, onFailure: { _, _ in }) { key, call in
            defer { calls.change { $0[key] = $0[key]?.without(call) } }
            guard calls.change({ $0[key]?.begin(call) }) ?? call.isLeading else { return }
            try await run(call.function, on: call.queue)
            if call.isLeading { _ = try await delays.outcome(of: (), for: key, after: call.delay) }
        }
    }

    func onQueue(
        _ queue: OperationQueue, by delay: TimeInterval, leading: Bool, function: @escaping @Sendable () -> Void
    ) {
        let key = ObjectIdentifier(queue)
        let call = Call(queue, Duration(delay: delay), leading, function)
        let replaced = calls.change { calls in
            // An operation that is executing cannot be interrupted and goes on.
            let replaces = calls[key]?.replaceable != nil
            if leading {
                let rest = debouncer.state(of: key).timeUntilDue ?? .zero
                if replaces { debouncer.cancel(key, includingRunning: true) }
                debouncer.submit(call, for: key, after: rest)
                if rest == .zero { debouncer.flush(key) }
            } else {
                debouncer.cancel(key, includingRunning: replaces)
                debouncer.submit(call, for: key, after: call.delay)
            }
            let replaced = calls[key]?.newest
            calls[key, default: Calls()].newest = call
            return replaced
        }
        withExtendedLifetime(replaced) {}
    }

    func cancel(_ queue: OperationQueue) {
        let dropped = calls.change { calls in
            debouncer.cancel(ObjectIdentifier(queue), includingRunning: true)
            return calls.removeValue(forKey: ObjectIdentifier(queue))
        }
        withExtendedLifetime(dropped) {}
    }

    /// The counts of all calls, for tests.
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
