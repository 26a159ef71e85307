public import Dispatch
public import Foundation
internal import Lull

/// Makes a closure that runs another one when it has not been called for a while, on the main queue.
///
/// ```swift
/// let search = debounced(for: 0.3) { (text: String) in results.search(text) }
/// search(field.text)
/// ```
///
/// The newest value counts. The closure may be called from any thread; a call costs about as much as taking a lock.
/// When nobody holds the closure any more, what is pending is still run when it is due. Stops with a message if the
/// delay is negative or not finite.
///
/// - Parameters:
///   - seconds: How long, in seconds, it must not have been called; finite, zero or more.
///   - clock: The clock that this is measured by.
///   - tolerance: How much later than due a wake-up may be, so that wake-ups of several debouncers can be one; never
///     early. Zero or more.
///   - body: What runs then.
public func debounced<Value: Sendable>(
    for seconds: TimeInterval, clock: any Clock<Duration> = ContinuousClock(), tolerance: Duration = .zero,
    _ body: @escaping @MainActor @Sendable (Value) -> Void
) -> @Sendable (Value) -> Void {
    debounced(for: seconds, on: .main, clock: clock, tolerance: tolerance) { value in
        MainActor.assumeIsolated { body(value) }
    }
}

/// Makes a closure that runs another one when it has not been called for a while, on a queue.
///
/// All else is as in the form with a value, on the main queue.
///
/// - Parameters:
///   - seconds: How long, in seconds, it must not have been called; finite, zero or more.
///   - queue: Where the other closure runs.
///   - clock: The clock that this is measured by.
///   - tolerance: How much later than due a wake-up may be, so that wake-ups of several debouncers can be one; never
///     early. Zero or more.
///   - body: What runs then.
public func debounced<Value: Sendable>(
    for seconds: TimeInterval, on queue: DispatchQueue, clock: any Clock<Duration> = ContinuousClock(),
    tolerance: Duration = .zero,
    _ body: @escaping @Sendable (Value) -> Void
) -> @Sendable (Value) -> Void {
    let debouncer = Debouncer(
        for: Duration(setting: seconds, "delay"), on: queue, options: .init(tolerance: tolerance), clock: clock,
        handler: body
    )
    return { debouncer($0) }
}

/// Makes a closure that runs another one when it has not been called for a while, on the main queue.
///
/// All else is as in the form with a value, on the main queue.
///
/// - Parameters:
///   - seconds: How long, in seconds, it must not have been called; finite, zero or more.
///   - clock: The clock that this is measured by.
///   - tolerance: How much later than due a wake-up may be, so that wake-ups of several debouncers can be one; never
///     early. Zero or more.
///   - body: What runs then.
public func debounced(
    for seconds: TimeInterval, clock: any Clock<Duration> = ContinuousClock(), tolerance: Duration = .zero,
    _ body: @escaping @MainActor @Sendable () -> Void
) -> @Sendable () -> Void {
    debounced(for: seconds, on: .main, clock: clock, tolerance: tolerance, onMainQueue(body))
}

/// Makes a closure that runs another one when it has not been called for a while, on a queue.
///
/// All else is as in the form with a value, on the main queue.
///
/// - Parameters:
///   - seconds: How long, in seconds, it must not have been called; finite, zero or more.
///   - queue: Where the other closure runs.
///   - clock: The clock that this is measured by.
///   - tolerance: How much later than due a wake-up may be, so that wake-ups of several debouncers can be one; never
///     early. Zero or more.
///   - body: What runs then.
public func debounced(
    for seconds: TimeInterval, on queue: DispatchQueue, clock: any Clock<Duration> = ContinuousClock(),
    tolerance: Duration = .zero,
    _ body: @escaping @Sendable () -> Void
) -> @Sendable () -> Void {
    let debouncer = Debouncer(
        for: Duration(setting: seconds, "delay"), on: queue, options: .init(tolerance: tolerance), clock: clock,
        handler: body
    )
    return { debouncer() }
}
