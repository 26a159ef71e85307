// Runs conformance cases that the host has written as numbers, on both engines, and writes what they execute.
//
// A case is: its number, kind, wait, longest wait, edges, delay rule, count, spacing, and how many calls; a call is: the instant,
// what it does, key, wait. -1 stands for what is not given. Times are milliseconds, and the value of a submit is its number.
internal import Controls
internal import LullCore
internal import Port

struct Numbers {
    private let file: Int32
    private var bytes: [1024 of UInt8] = .init(repeating: 0)
    private var next = 0
    private var end = 0

    init(_ file: Int32) { self.file = file }

    private mutating func byte() -> UInt8? {
        if next == end {
            var span = bytes.mutableSpan
            end = span.withUnsafeMutableBytes { Int(host_read(file, $0.baseAddress, $0.count)) }
            next = 0
            if end == 0 { return nil }
        }
        next += 1
        return bytes[next - 1]
    }

    /// Returns the next number, or nil at the end.
    mutating func number() -> Int? {
        var byte = byte()
        while byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") { byte = self.byte() }
        guard byte != nil else { return nil }
        let isNegative = byte == UInt8(ascii: "-")
        if isNegative { byte = self.byte() }
        var number = 0
        while let digit = byte, digit >= UInt8(ascii: "0") {
            number = number * 10 + Int(digit - UInt8(ascii: "0"))
            byte = self.byte()
        }
        return isNegative ? -number : number
    }

    mutating func optional() -> Int? {
        guard let number = number(), number >= 0 else { return nil }
        return number
    }
}

struct Call {
    var at: CoreInstant
    var what: Int
    var key: Int?
    var wait: CoreDuration?
}

func duration(_ milliseconds: Int?) -> CoreDuration? { milliseconds.map { .milliseconds(Int64($0)) } }

func put(_ number: Int) {
    if number < 0 { host_put(UInt8(ascii: "-")) }
    writeDecimal(UInt32(truncatingIfNeeded: number.magnitude)) { host_put($0) }
    host_put(UInt8(ascii: " "))
}

/// Writes an execution: the engine (0 for the fixed one), the case, and what was executed.
func line(
    _ engine: Int, _ scenario: Int, _ at: CoreInstant, _ key: Int, _ value: Int, _ count: Int, _ edge: Edge,
    _ first: CoreInstant
) {
    put(engine)
    put(scenario)
    put(Int(at.nanoseconds / 1_000_000))
    put(key)
    put(value)
    put(count)
    put(Int(first.nanoseconds / 1_000_000))
    writeText(edge.name) { host_put($0) }
    host_put(UInt8(ascii: "\n"))
}

/// Runs a case on the engine without allocation.
func runFixed(_ scenario: Int, _ policy: Policy, _ calls: UnsafeBufferPointer<Call>) {
    var engine = FixedEngine<8, Int>(policy)
    var submits = 0
    func write(_ one: FixedExecution<Int>) {
        line(0, scenario, one.at, one.key, one.value, one.count, one.edge, one.first)
    }
    for call in calls {
        switch call.what {
        case 0:
            engine.submit(submits, for: call.key ?? 0, at: call.at, wait: call.wait, run: write)
            submits += 1
        case 1: engine.flush(call.key, at: call.at, run: write)
        default: engine.cancel(call.key, at: call.at, run: write)
        }
    }
    while engine.alarm < .farFuture { engine.advance(to: engine.alarm, run: write) }
    if !engine.counts.addUp || engine.counts.pending > 0 { host_exit(2) }
}

/// Runs a case on the engine of apps and servers.
func run(_ scenario: Int, _ policy: Policy, _ calls: UnsafeBufferPointer<Call>) {
    guard let setup = try? Setup(policy) else { host_exit(3) }
    var engine = Engine<Int, Int>(setup)
    var submits = 0
    func perform(_ actions: Actions<Int, Int>) {
        for case .start(let one) in actions.more {
            line(1, scenario, one.at, one.key, one.batch.value, one.count, one.edge, one.first)
            perform(engine.ended(one.run, .returned).1)
        }
    }
    for call in calls {
        perform(engine.advance(to: call.at))
        switch (call.what, call.key) {
        case (0, let key):
            perform(engine.submit(submits, for: key ?? 0, at: call.at, wait: call.wait))
            submits += 1
        case (1, let key?): perform(engine.flush(key, at: call.at))
        case (1, nil): perform(engine.flush(at: call.at))
        case (_, let key?): perform(engine.cancel(key, at: call.at))
        case (_, nil): perform(engine.cancel(at: call.at))
        }
    }
    while engine.alarm < .farFuture { perform(engine.advance(to: engine.alarm)) }
    if !engine.counters.addUp || engine.counters.pending > 0 { host_exit(2) }
}

@main
enum Program {
    static func main() {
        var numbers = Numbers(host_open_argument())
        /// No case has more calls.
        let calls = UnsafeMutableBufferPointer<Call>.allocate(capacity: 4096)
        let mark = heap_used()
        while let scenario = numbers.number() {
            guard let kind = numbers.number(), let wait = numbers.number() else { host_exit(4) }
            let longest = duration(numbers.optional())
            guard let edgeBits = numbers.number(), let rule = numbers.number() else { host_exit(4) }
            let edges = Edges(rawValue: UInt8(edgeBits))
            let maxCount = numbers.optional()
            let spacing = duration(numbers.optional())
            guard let count = numbers.number() else { host_exit(4) }
            for index in 0..<count {
                guard let at = numbers.number(), let what = numbers.number() else { host_exit(4) }
                calls[index] = Call(
                    at: .origin.advanced(by: .milliseconds(Int64(at))), what: what, key: numbers.optional(),
                    wait: duration(numbers.optional()))
            }
            let length = CoreDuration.milliseconds(Int64(wait))
            let policy =
                kind == 0
                ? try? Policy.debounce(
                    wait: length, maxWait: longest, edges: edges, delayRule: rule == 0 ? .restart : .extend,
                    maxCount: maxCount, spacing: spacing)
                : try? Policy.throttle(interval: length, edges: edges, maxCount: maxCount)
            guard let policy else { host_exit(3) }
            let all = UnsafeBufferPointer(rebasing: calls[..<count])
            runFixed(scenario, policy, all)
            run(scenario, policy, all)
            // The engine is gone, and all that it has allocated.
            heap_reset(mark)
        }
    }
}
