import Allocations
@preconcurrency import Dispatch
import Synchronization

// The least code that could honestly do the work: concrete, in one module, a clock read, a lock, a check of the due
// instant, a count and the store, with one timer that is set again when it fires too early.

/// A debouncer with nothing that could be left out.
final class Floor<Value: Sendable>: Sendable {
    private struct State {
        var due: Int64 = 0
        var count = 0
        var value: Value?
        var isArmed = false
    }

    private enum Next {
        /// The old value is out, and released after the lock.
        case replaced
        case arm
        /// What is pending is due, and is executed first.
        case late
    }

    private let state = Mutex(State())
    private let wait: Int64
    private let alarm = Alarm()
    private let handler: @Sendable (Value) -> Void

    init(wait: Int64, _ handler: @escaping @Sendable (Value) -> Void) {
        self.wait = wait
        self.handler = handler
        alarm.onWake { [weak self] in self?.wake() }
    }

    @inline(__always)
    func submit(_ value: consuming Value) {
        let now = boot_nanoseconds()
        // The new value goes in and the old one comes out, without a reference more for either; the old one is released
        // after the lock.
        var exchanged = Value?.some(value)
        let next = state.withLock { state -> Next in
            if state.count > 0, state.due <= now { return .late }
            state.due = now + wait
            state.count += 1
            swap(&state.value, &exchanged)
            if state.isArmed { return .replaced }
            state.isArmed = true
            return .arm
        }
        switch next {
        case .replaced: break
        case .arm: alarm.set(now + wait)
        case .late: if let value = exchanged { catchUp(value) }
        }
    }

    @inline(never)
    private func catchUp(_ value: Value) {
        wake()
        submit(value)
    }

    private func wake() {
        let now = boot_nanoseconds()
        let (next, value) = state.withLock { state -> (Int64?, Value?) in
            guard state.count > 0 else { return (nil, nil) }
            guard state.due <= now else { return (state.due, nil) }
            state.count = 0
            state.isArmed = false
            return (nil, state.value.take())
        }
        if let next { alarm.set(next) }
        if let value { handler(value) }
    }
}

/// The same with a dictionary of keys, and a heap of due instants.
final class KeyedFloor<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Gate {
        var due: Int64
        var count: Int
        var value: Value
    }

    private struct State {
        var gates: [Key: Gate] = [:]
        var heap: [(due: Int64, key: Key)] = []
        var armed = Int64.max
    }

    private enum Next {
        case drop(Value?)
        case arm
        case late
    }

    private let state = Mutex(State())
    private let wait: Int64
    private let alarm = Alarm()
    private let handler: @Sendable (Key, Value) -> Void

    init(wait: Int64, _ handler: @escaping @Sendable (Key, Value) -> Void) {
        self.wait = wait
        self.handler = handler
        alarm.onWake { [weak self] in self?.wake() }
    }

    @inline(__always)
    func submit(_ value: Value, for key: Key) {
        let now = boot_nanoseconds()
        let next = state.withLock { state -> Next in
            let old = Self.replace(&state.gates[key], value, now, now + wait)
            switch old {
            case .drop: return old
            case .late: return old
            case .arm:
                state.heap.push((now + wait, key))
                guard now + wait < state.armed else { return .drop(nil) }
                state.armed = now + wait
                return .arm
            }
        }
        switch next {
        case .drop: break
        case .arm: alarm.set(now + wait)
        case .late: catchUp(value, key)
        }
    }

    @inline(__always)
    private static func replace(_ gate: inout Gate?, _ value: Value, _ now: Int64, _ due: Int64) -> Next {
        guard gate != nil else {
            gate = Gate(due: due, count: 1, value: value)
            return .arm
        }
        if gate!.due <= now { return .late }
        let old = gate!.value
        gate!.due = due
        gate!.count += 1
        gate!.value = value
        return .drop(old)
    }

    @inline(never)
    private func catchUp(_ value: Value, _ key: Key) {
        wake()
        submit(value, for: key)
    }

    private func wake() {
        let now = boot_nanoseconds()
        let (next, executions) = state.withLock { state -> (Int64?, [(Key, Value)]) in
            var executions: [(Key, Value)] = []
            while let first = state.heap.first, first.due <= now {
                state.heap.popFirst()
                guard let gate = state.gates[first.key] else { continue }
                if gate.due > now {
                    state.heap.push((gate.due, first.key))
                } else {
                    state.gates[first.key] = nil
                    executions.append((first.key, gate.value))
                }
            }
            state.armed = state.heap.first?.due ?? .max
            return (state.heap.first?.due, executions)
        }
        if let next { alarm.set(next) }
        for (key, value) in executions { handler(key, value) }
    }
}

extension Array {
    /// Adds to a binary heap of instants.
    fileprivate mutating func push<Key>(_ entry: Element) where Element == (due: Int64, key: Key) {
        append(entry)
        var child = count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard self[child].due < self[parent].due else { return }
            swapAt(child, parent)
            child = parent
        }
    }

    /// Removes the earliest instant of a binary heap.
    fileprivate mutating func popFirst<Key>() where Element == (due: Int64, key: Key) {
        swapAt(0, count - 1)
        removeLast()
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < count else { return }
            if child + 1 < count, self[child + 1].due < self[child].due { child += 1 }
            guard self[child].due < self[parent].due else { return }
            swapAt(child, parent)
            parent = child
        }
    }
}

/// A Dispatch timer that can be set repeatedly.
final class Alarm: Sendable {
    private let source: any DispatchSourceTimer

    init() {
        source = DispatchSource.makeTimerSource(flags: .strict, queue: .global(qos: .userInitiated))
        source.schedule(deadline: .distantFuture)
    }

    deinit { source.cancel() }

    func onWake(_ body: @escaping @Sendable () -> Void) {
        source.setEventHandler(handler: body)
        source.activate()
    }

    func set(_ instant: Int64) {
        source.schedule(
            deadline: .now() + .nanoseconds(Int(max(0, instant - boot_nanoseconds()))), leeway: .nanoseconds(0))
    }
}
