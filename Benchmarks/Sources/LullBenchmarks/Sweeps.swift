internal import LullCore

// Part of the row `holds`: calls for all keys, made as the runtimes make them, one hold of the lock after the other.

enum Sweeps {
    /// The number of keys that a runtime handles in one hold of its lock.
    static let limit = 256

    /// Carries out a call for all keys, and ends the executions that it starts.
    ///
    /// - Parameter waiter: Waits for the executions that run then.
    static func carryOut(
        _ kind: Sweep.Kind, _ engine: inout Engine<Int, Int>, at now: CoreInstant, waiter: WaiterID? = nil,
        _ hold: inout CallMeter, ended: inout CallMeter
    ) {
        let start = CallMeter.start()
        var sweep = engine.beginSweep(kind, at: now, waiter: waiter)
        hold.note(since: start)
        engine.takeDiscarded().free()
        while !sweep.isDone {
            sweep.sortIfNeeded()
            let start = CallMeter.start()
            let actions = engine.continueSweep(&sweep, limit: limit)
            hold.note(since: start)
            engine.takeDiscarded().free()
            LockHolds.perform(actions, &engine, &ended)
        }
    }

    /// Queries when the next value of any key falls due.
    static func nextDue(
        _ engine: inout Engine<Int, Int>, at now: CoreInstant, _ hold: inout CallMeter
    ) -> CoreInstant? {
        while true {
            let start = CallMeter.start()
            let (isExact, due) = engine.refineNextDue(at: now, budget: 16 * limit)
            hold.note(since: start)
            engine.takeDiscarded().free()
            if isExact { return due }
        }
    }
}
