import LullCore

// Part of the row `holds`: the calls for all keys, made as the runtimes make them, one hold of the lock after the other.

enum Sweeps {
    /// How much a runtime has done while it holds its lock once.
    static let limit = 64

    /// Flushes all keys, and ends what that starts.
    static func flush(
        _ engine: inout Engine<Int, Int>, at now: CoreInstant, _ hold: inout Meter, ended: inout Meter
    ) {
        let start = Meter.start()
        // TO COMPLETE, when the engine works in portions: `engine.beginFlush(at: now)` in place of `engine.flush(at: now)`.
        let actions = engine.flush(at: now)
        hold.note(since: start)
        Holds.perform(actions, &engine, &ended)
        sweep(&engine, &hold, &ended)
    }

    /// Cancels all keys.
    static func cancel(
        _ engine: inout Engine<Int, Int>, at now: CoreInstant, _ hold: inout Meter, ended: inout Meter
    ) {
        let start = Meter.start()
        // TO COMPLETE: `engine.beginCancel(running: false, at: now)` in place of `engine.cancel(at: now)`.
        let actions = engine.cancel(at: now)
        hold.note(since: start)
        Holds.perform(actions, &engine, &ended)
        sweep(&engine, &hold, &ended)
    }

    /// Does what such a call has left to do, a portion at a time.
    private static func sweep(_ engine: inout Engine<Int, Int>, _ hold: inout Meter, _ ended: inout Meter) {
        // TO COMPLETE: these lines, which need no change then.
        // while engine.isSweeping {
        //     let start = Meter.start()
        //     let actions = engine.sweep(limit: limit)
        //     hold.note(since: start)
        //     Holds.perform(actions, &engine, &ended)
        // }
    }
}
