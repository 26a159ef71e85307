public import Dispatch
public import Foundation
internal import Lull

/// Returns a closure that may be called as often as you like, and runs `body` on the main queue with the newest value
/// once the calls have stopped.
///
/// ```swift
/// let search = debounced(for: 0.3) { (text: String) in results.search(text) }
/// search(field.text)
/// ```
///
/// The closure may be called from any thread; a call costs about as much as a lock. If it is released while a value is
/// pending, `body` still runs when the value falls due. The program stops with a message if the delay is negative or
/// not finite.
///
/// - Parameters:
///   - seconds: The seconds without a call after which `body` runs.
///   - clock: Measures the delay; tests pass the `ManualClock` of `LullTesting`. The default continues while the
///     machine sleeps.
///   - tolerance: How late a wake-up may be, so that the processor can combine several; never early. Zero or
///     more.
///   - fileID: The file that a message about a wrong setting names; leave it out.
///   - line: The line that this message names; leave it out.
///   - body: The closure that runs when the calls have stopped.
public func debounced<Value: Sendable>(
    for seconds: TimeInterval, clock: any Clock<Duration> = ContinuousClock(), tolerance: Duration = .zero,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ body: @escaping @MainActor @Sendable (Value) -> Void
) -> @Sendable (Value) -> Void {
    debounced(for: seconds, on: .main, clock: clock, tolerance: tolerance, fileID: fileID, line: line) { value in
        MainActor.assumeIsolated { body(value) }
    }
}

/// Returns a closure that may be called as often as you like, and runs `body` on a queue once the calls have stopped.
///
/// Everything else is as in the form on the main queue whose closure takes a value.
///
/// - Parameters:
///   - seconds: The seconds without a call after which `body` runs.
///   - queue: The queue on which `body` runs.
///   - clock: Measures the delay; tests pass the `ManualClock` of `LullTesting`. The default continues while the
///     machine sleeps.
///   - tolerance: How late a wake-up may be, so that the processor can combine several; never early. Zero or
///     more.
///   - fileID: The file that a message about a wrong setting names; leave it out.
///   - line: The line that this message names; leave it out.
///   - body: The closure that runs when the calls have stopped.
public func debounced<Value: Sendable>(
    for seconds: TimeInterval, on queue: DispatchQueue, clock: any Clock<Duration> = ContinuousClock(),
    tolerance: Duration = .zero,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ body: @escaping @Sendable (Value) -> Void
) -> @Sendable (Value) -> Void {
    let debouncer = Debouncer(
        for: Duration(setting: seconds, "delay", at: SourceSite(fileID, line)), on: queue,
        options: .init(tolerance: tolerance), clock: clock,
        fileID: fileID, line: line, handler: body
    )
    return { debouncer($0) }
}

/// Returns a closure that may be called as often as you like, and runs `body` on the main queue once the calls have
/// stopped.
///
/// Everything else is as in the form on the main queue whose closure takes a value.
///
/// - Parameters:
///   - seconds: The seconds without a call after which `body` runs.
///   - clock: Measures the delay; tests pass the `ManualClock` of `LullTesting`. The default continues while the
///     machine sleeps.
///   - tolerance: How late a wake-up may be, so that the processor can combine several; never early. Zero or
///     more.
///   - fileID: The file that a message about a wrong setting names; leave it out.
///   - line: The line that this message names; leave it out.
///   - body: The closure that runs when the calls have stopped.
public func debounced(
    for seconds: TimeInterval, clock: any Clock<Duration> = ContinuousClock(), tolerance: Duration = .zero,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ body: @escaping @MainActor @Sendable () -> Void
) -> @Sendable () -> Void {
    debounced(
        for: seconds, on: .main, clock: clock, tolerance: tolerance, fileID: fileID, line: line, onMainQueue(body))
}

/// Returns a closure that may be called as often as you like, and runs `body` on a queue once the calls have stopped.
///
/// Everything else is as in the form on the main queue whose closure takes a value.
///
/// - Parameters:
///   - seconds: The seconds without a call after which `body` runs.
///   - queue: The queue on which `body` runs.
///   - clock: Measures the delay; tests pass the `ManualClock` of `LullTesting`. The default continues while the
///     machine sleeps.
///   - tolerance: How late a wake-up may be, so that the processor can combine several; never early. Zero or
///     more.
///   - fileID: The file that a message about a wrong setting names; leave it out.
///   - line: The line that this message names; leave it out.
///   - body: The closure that runs when the calls have stopped.
public func debounced(
    for seconds: TimeInterval, on queue: DispatchQueue, clock: any Clock<Duration> = ContinuousClock(),
    tolerance: Duration = .zero,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ body: @escaping @Sendable () -> Void
) -> @Sendable () -> Void {
    let debouncer = Debouncer(
        for: Duration(setting: seconds, "delay", at: SourceSite(fileID, line)), on: queue,
        options: .init(tolerance: tolerance), clock: clock,
        fileID: fileID, line: line, handler: body
    )
    return { debouncer() }
}
