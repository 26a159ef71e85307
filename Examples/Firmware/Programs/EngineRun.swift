// A case on `Engine`, for the program that runs both engines.
internal import LullCore
internal import LullEngine
internal import Port

/// Runs a case on the engine for any number of keys, which allocates.
struct EngineRun: ~Copyable {
    private let scenario: Int
    private var engine: Engine<Int, Int>

    init(_ scenario: Int, _ policy: Policy) {
        self.scenario = scenario
        guard let setup = try? Setup(policy) else { host_exit(3) }
        engine = Engine(setup)
    }

    private mutating func perform(_ actions: Actions<Int, Int>) {
        for case .start(let one) in actions.more {
            line(1, scenario, one.at, one.key, one.batch.value, one.count, one.cause, one.first)
            perform(engine.ended(one.run, .returned).1)
        }
    }

    mutating func perform(_ call: Call, at now: CoreInstant) {
        perform(engine.advance(to: now))
        switch call {
        case .submit(let value, let key, let wait): perform(engine.submit(value, for: key, at: now, wait: wait))
        case .flush(let key?): perform(engine.flush(key, at: now))
        case .flush(nil): perform(engine.flush(at: now))
        case .cancel(let key?): perform(engine.cancel(key, at: now))
        case .cancel(nil): perform(engine.cancel(at: now))
        }
    }

    mutating func finish() {
        while engine.alarm < .farFuture { perform(engine.advance(to: engine.alarm)) }
        if !engine.counters.addUp || engine.counters.pending > 0 { host_exit(2) }
    }
}
