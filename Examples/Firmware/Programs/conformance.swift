// Runs conformance cases that the host has written as numbers, and writes what is executed: on `FixedEngine`, and,
// compiled with BOTH, on `Engine` beside it.
//
// A case is: its number, kind, wait, longest wait, edges, delay rule, count, spacing, and how many calls; a call is:
// the instant, what it does, key, wait. -1 stands for what is not given. Times are milliseconds, and the value of a
// submit is its number.
internal import Controls
internal import LullCore
internal import LullEmbedded
internal import Port

func duration(_ milliseconds: Int?) -> CoreDuration? { milliseconds.map { .milliseconds(Int64($0)) } }

/// Writes an execution: the engine (0 for the fixed one), the case, and what was executed.
func line(
    _ engine: Int, _ scenario: Int, _ at: CoreInstant, _ key: Int, _ value: Int, _ count: Int, _ cause: Cause,
    _ first: CoreInstant
) {
    put(engine)
    put(scenario)
    put(Int(at.nanoseconds / 1_000_000))
    put(key)
    put(value)
    put(count)
    put(Int(first.nanoseconds / 1_000_000))
    writeText(cause.name) { host_put($0) }
    host_put(UInt8(ascii: "\n"))
}

/// A call of a case; a flush or a cancel without a key is of all keys.
enum Call {
    case submit(Int, key: Int, wait: CoreDuration?)
    case flush(Int?)
    case cancel(Int?)
}

/// Runs a case on the engine for a fixed number of keys, which never allocates.
struct FixedEngineRun: ~Copyable {
    private let scenario: Int
    private var engine: FixedEngine<8, Int>

    init(_ scenario: Int, _ policy: Policy) {
        self.scenario = scenario
        engine = FixedEngine(policy)
    }

    private static func write(_ one: FixedExecution<Int>, _ scenario: Int) {
        line(0, scenario, one.at, one.key, one.value, one.count, one.cause, one.first)
    }

    mutating func perform(_ call: Call, at now: CoreInstant) {
        let write = { [scenario] in Self.write($0, scenario) }
        switch call {
        case .submit(let value, let key, let wait): engine.submit(value, for: key, at: now, after: wait, run: write)
        case .flush(let key): engine.flush(key, at: now, run: write)
        case .cancel(let key): engine.cancel(key, at: now, run: write)
        }
    }

    mutating func finish() {
        while engine.alarm < .farFuture { engine.advance(to: engine.alarm) { [scenario] in Self.write($0, scenario) } }
        if !engine.counts.addUp || engine.counts.pending > 0 { host_exit(2) }
    }
}

@main
enum Program {
    static func main() {
        var numbers = Numbers(host_open_argument())
        let mark = heap_used()
        while let scenario = numbers.number() {
            run(scenario, &numbers)
            // The engine is gone, and all that it has allocated.
            heap_reset(mark)
        }
    }

    @inline(never)
    static func run(_ scenario: Int, _ numbers: inout Numbers) {
        guard let policy = policy(&numbers), let count = numbers.number() else { host_exit(4) }
        var fixed = FixedEngineRun(scenario, policy)
        #if BOTH
            var general = EngineRun(scenario, policy)
        #endif
        var submits = 0
        for _ in 0..<count {
            guard let at = numbers.number(), let what = numbers.number() else { host_exit(4) }
            let (key, wait) = (numbers.optional(), duration(numbers.optional()))
            let call: Call =
                what == 0 ? .submit(submits, key: key ?? 0, wait: wait) : what == 1 ? .flush(key) : .cancel(key)
            if what == 0 { submits += 1 }
            let now = CoreInstant.origin.advanced(by: .milliseconds(Int64(at)))
            fixed.perform(call, at: now)
            #if BOTH
                general.perform(call, at: now)
            #endif
        }
        fixed.finish()
        #if BOTH
            general.finish()
        #endif
    }

    /// Returns the policy of a case, or nil where the numbers end.
    static func policy(_ numbers: inout Numbers) -> Policy? {
        guard let kind = numbers.number(), let length = numbers.number() else { return nil }
        let wait = CoreDuration.milliseconds(Int64(length))
        let maxWait = duration(numbers.optional())
        guard let bits = numbers.number(), let rule = numbers.number() else { return nil }
        let edges = Edges(rawValue: UInt8(bits))
        let maxCount = numbers.optional()
        let spacing = duration(numbers.optional())
        let policy =
            kind == 0
            ? try? Policy.debounce(
                wait: wait, maxWait: maxWait, edges: edges, delayRule: rule == 0 ? .restart : .extend,
                maxCount: maxCount,
                spacing: spacing)
            : try? Policy.throttle(interval: wait, edges: edges, maxCount: maxCount)
        if policy == nil { host_exit(3) }
        return policy
    }
}
