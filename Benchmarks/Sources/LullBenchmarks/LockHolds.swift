import Allocations
internal import LullCore

// Row: the longest time of one call of the engine, for which a runtime holds its lock. It is processor time of the
// thread, which excludes the time of others; the engine is driven as the runtimes drive it, but by one thread and in
// virtual time.

/// The processor time of one kind of call.
struct CallMeter {
    /// The cost of reading that clock, which is a system call.
    let cost: Int64
    private(set) var longest: Int64 = 0

    init(cost: Int64) { self.cost = cost }

    @inline(__always)
    static func start() -> Int64 { thread_cpu_nanoseconds() }

    @inline(__always)
    mutating func note(since start: Int64) {
        longest = max(longest, thread_cpu_nanoseconds() - start - cost)
    }

    /// The median of many readings of the clock.
    static func calibrate() -> Int64 {
        let costs = (0..<10_000).map { _ in
            let start = start()
            return thread_cpu_nanoseconds() - start
        }
        return costs.sorted()[costs.count / 2]
    }
}

enum LockHolds {
    /// The calls that a runtime makes while it holds its lock.
    private struct Meters {
        var clock: CallMeter
        var new: CallMeter
        var known: CallMeter
        var advance: CallMeter
        var flush: CallMeter
        var cancel: CallMeter
        var ended: CallMeter
        var question: CallMeter
        var watch: CallMeter

        init(cost: Int64) {
            let meter = CallMeter(cost: cost)
            (clock, new, known, advance, flush) = (meter, meter, meter, meter, meter)
            (cancel, ended, question, watch) = (meter, meter, meter, meter)
        }
    }

    static func rows(_ effort: Effort) -> [Line] {
        let cost = CallMeter.calibrate()
        let taken = (0..<max(3, effort.rounds / 3)).map { _ in round(effort.pending, Meters(cost: cost)) }
        func line(_ subject: String, _ kind: KeyPath<Meters, CallMeter>) -> Line {
            func longest(_ kind: KeyPath<Meters, CallMeter>) -> Spread {
                Spread(taken.map { Double($0[keyPath: kind].longest) / 1000 })
            }
            return Line(
                subject, longest(kind), "us", against: "nothing", longest(\.clock), target: .figureAtMost(1000))
        }
        return [
            line("submit of a new key", \.new),
            line("submit to a random key", \.known),
            line("64 of all that are due", \.advance),
            line("end of an execution", \.ended),
            line("flush of all", \.flush),
            line("cancel of all", \.cancel),
            line("next due of all", \.question),
            line("wait for a fifth that run", \.watch),
        ]
    }

    private static func round(_ keys: Int, _ meters: Meters) -> Meters {
        var meters = meters
        var engine = makeEngine()
        var now = CoreInstant(nanoseconds: 0)
        for _ in 0..<keys {
            let start = CallMeter.start()
            meters.clock.note(since: start)
        }

        // All fall due at one instant, and are executed then.
        submitAll(keys, &engine, now, &meters)
        let all = now.advanced(by: wait)
        while engine.alarm <= all {
            let start = CallMeter.start()
            let actions = engine.advance(to: all, limit: 64)
            meters.advance.note(since: start)
            engine.takeDiscarded().free()
            perform(actions, &engine, &meters.ended)
        }
        precondition(engine.counters.executed == keys, "not all that was due has been executed")

        now = all
        submitAll(keys, &engine, now, &meters)
        let due = Sweeps.nextDue(&engine, at: now, &meters.question)
        precondition(due == now.advanced(by: wait), "nothing is due next")
        Sweeps.carryOut(.flush, &engine, at: now, &meters.flush, ended: &meters.ended)
        precondition(engine.counters.executed == 2 * keys, "a flush has left something pending")

        submitAll(keys, &engine, now, &meters)
        Sweeps.carryOut(.cancel(running: false), &engine, at: now, &meters.cancel, ended: &meters.ended)
        precondition(engine.counters.cancelled == keys, "a cancel has left something pending")

        watch(keys / 5, &engine, now, &meters)
        return meters
    }

    private static let wait = CoreDuration.seconds(1)

    private static func makeEngine() -> Engine<Int, Int> {
        guard let setup = try? Setup(.debounce(wait: wait)) else { preconditionFailure("a second is a wait") }
        return Engine(setup)
    }

    /// Submits each key, and after every fourth one a random key.
    private static func submitAll(
        _ keys: Int, _ engine: inout Engine<Int, Int>, _ now: CoreInstant, _ meters: inout Meters
    ) {
        for key in 0..<keys {
            let start = CallMeter.start()
            let actions = engine.submit(key, for: key, at: now)
            meters.new.note(since: start)
            engine.takeDiscarded().free()
            precondition(actions.more.isEmpty, "a submit of a new key has started something")
        }
        var state: UInt64 = 42
        for value in 0..<keys / 4 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let key = Int((state >> 33) % UInt64(keys))
            let start = CallMeter.start()
            let actions = engine.submit(value, for: key, at: now)
            meters.known.note(since: start)
            engine.takeDiscarded().free()
            precondition(actions.displaced != nil, "a submit has displaced no value")
        }
    }

    /// Starts this many executions, waits for all of them, and lets them end.
    private static func watch(
        _ keys: Int, _ engine: inout Engine<Int, Int>, _ now: CoreInstant, _ meters: inout Meters
    ) {
        var running: [RunID] = []
        for key in 0..<keys {
            let submitted = engine.submit(key, for: key, at: now)
            precondition(submitted.more.isEmpty, "a submit of a new key has started something")
            for case .start(let execution) in engine.flush(key, at: now).more { running.append(execution.run) }
        }
        precondition(running.count == keys, "not all have been started")
        Sweeps.carryOut(.flush, &engine, at: now, waiter: 1, &meters.watch, ended: &meters.ended)
        for run in running {
            let start = CallMeter.start()
            let (_, actions) = engine.ended(run, .returned)
            meters.ended.note(since: start)
            engine.takeDiscarded().free()
            perform(actions, &engine, &meters.ended)
        }
    }

    /// Performs the engine's actions, as a runtime does outside its lock; each execution ends at once.
    static func perform(_ actions: Actions<Int, Int>, _ engine: inout Engine<Int, Int>, _ ended: inout CallMeter) {
        for case .start(let execution) in actions.more {
            let start = CallMeter.start()
            let (_, more) = engine.ended(execution.run, .returned)
            ended.note(since: start)
            engine.takeDiscarded().free()
            perform(more, &engine, &ended)
        }
    }
}
