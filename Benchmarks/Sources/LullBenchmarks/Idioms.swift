import Dispatch
import Foundation

// The idioms that people use today, one for a whole burst or one for each key.

/// Cancels the sleeping task and starts another one.
final class TaskIdiom {
    private var task: Task<Void, Never>?
    private let wait: Int64
    private let handler: @Sendable (Int) -> Void

    init(wait: Int64, _ handler: @escaping @Sendable (Int) -> Void) {
        self.wait = wait
        self.handler = handler
    }

    func submit(_ value: Int) {
        task?.cancel()
        task = Task { [wait, handler] in
            do { try await Task.sleep(nanoseconds: UInt64(wait)) } catch { return }
            handler(value)
        }
    }

    func cancel() { task?.cancel() }
}

/// Cancels the scheduled work item and schedules another one.
final class WorkItemIdiom {
    private var item: DispatchWorkItem?
    private let queue: DispatchQueue
    private let wait: Int64
    private let handler: @Sendable (Int) -> Void

    init(wait: Int64, queue: DispatchQueue, _ handler: @escaping @Sendable (Int) -> Void) {
        self.wait = wait
        self.queue = queue
        self.handler = handler
    }

    func submit(_ value: Int) {
        item?.cancel()
        let new = DispatchWorkItem { [handler] in handler(value) }
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(wait)), execute: new)
        item = new
    }

    func cancel() { item?.cancel() }
}

/// Invalidates the timer on the current run loop and makes another one.
final class TimerIdiom {
    private var timer: Timer?
    private let wait: Int64
    private let handler: @Sendable (Int) -> Void

    init(wait: Int64, _ handler: @escaping @Sendable (Int) -> Void) {
        self.wait = wait
        self.handler = handler
    }

    func submit(_ value: Int) {
        timer?.invalidate()
        timer = Timer.scheduledTimer(withTimeInterval: Double(wait) / 1e9, repeats: false) { [handler] _ in
            handler(value)
        }
    }
}
