import Allocations
internal import LullCore
import Synchronization

/// The core's engine in the frame of the floor: measures the cost of the core alone, from another module.
final class CoreFrame<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let engine: Mutex<Engine<Key, Value>>
    private let alarm = Alarm()
    private let handler: @Sendable (Key, Value) -> Void

    init(wait: Int64, _ handler: @escaping @Sendable (Key, Value) -> Void) {
        guard let setup = try? Setup(.debounce(wait: .nanoseconds(wait))) else {
            preconditionFailure("\(wait) ns is not a valid wait")
        }
        engine = Mutex(Engine(setup))
        self.handler = handler
        alarm.onWake { [weak self] in self?.wake() }
    }

    @inline(__always)
    func submit(_ value: Value, for key: Key) {
        let now = CoreInstant(nanoseconds: boot_nanoseconds())
        let actions = engine.withLock { $0.submit(value, for: key, at: now) }
        if !actions.isQuiet { perform(actions) }
    }

    @inline(never)
    private func perform(_ actions: Actions<Key, Value>) {
        for case .start(let execution) in actions.more {
            handler(execution.key, execution.batch.value)
            let (_, more) = engine.withLock { $0.ended(execution.run, .returned) }
            perform(more)
        }
        if actions.movesAlarm { alarm.set(engine.withLock { $0.alarm }.nanoseconds) }
    }

    private func wake() {
        var more = true
        while more {
            let now = CoreInstant(nanoseconds: boot_nanoseconds())
            let (actions, alarm) = engine.withLock { ($0.advance(to: now, limit: 64), $0.alarm) }
            perform(actions)
            more = alarm <= now
        }
    }

    var counters: Counters { engine.withLock { $0.counters } }
}
