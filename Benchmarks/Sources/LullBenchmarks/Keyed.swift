import Allocations
import Dispatch
import Lull
import Synchronization

// Rows: many submits over many keys. In turn, each key comes as often as any other and as late as possible; at random,
// no cache can predict the next one.

enum Keyed {
    static let submits = 1_000_000
    static let keys = 100_000
    /// Nothing is executed during a burst or afterwards: it is dropped.
    static let wait: Int64 = 10_000_000_000

    static let inTurn = (0..<submits).map { $0 % keys }

    /// The same in every run.
    static let atRandom = {
        var state: UInt64 = 42
        return (0..<submits).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(keys))
        }
    }()

    /// Returns a key of 24 bytes, too long to be stored inline in the string.
    static func name(_ key: Int) -> String {
        let digits = String(key)
        return "device/" + String(repeating: "0", count: 17 - digits.count) + digits
    }

    // MARK: - A burst, as in a user's code

    @inline(never)
    static func burst(_ debouncer: KeyedDebouncer<Int, Int, Void>, _ keys: [Int]) {
        for (value, key) in keys.enumerated() { debouncer.submit(value, for: key) }
    }

    @inline(never)
    static func burst(_ debouncer: KeyedDebouncer<String, Int, Void>, _ keys: [String]) {
        for (value, key) in keys.enumerated() { debouncer.submit(value, for: key) }
    }

    @inline(never)
    static func burst(_ floor: KeyedFloor<Int, Int>, _ keys: [Int]) {
        for (value, key) in keys.enumerated() { floor.submit(value, for: key) }
    }

    @inline(never)
    static func burst(_ floor: KeyedFloor<String, Int>, _ keys: [String]) {
        for (value, key) in keys.enumerated() { floor.submit(value, for: key) }
    }

    // MARK: - Rows

    static func integers(_ effort: Effort) -> [Line] {
        func lull(_ keys: [Int]) -> Sample {
            let debouncer = KeyedDebouncer<Int, Int, Void>(
                for: .nanoseconds(wait), options: .init(atEnd: .drop)
            ) { _, _ in }
            return Sample.of(submits) { burst(debouncer, keys) }
        }
        func floor(_ keys: [Int]) -> Sample {
            let floor = KeyedFloor<Int, Int>(wait: wait) { _, _ in }
            return Sample.of(submits) { burst(floor, keys) }
        }
        let taken = Interleaved(
            rounds: effort.rounds,
            [{ floor(inTurn) }, { lull(inTurn) }, { floor(atRandom) }, { lull(atRandom) }])
        // The idioms are slow, and use much memory until their old deadlines; the next row must not pay for that.
        let heap = Resources.heap
        defer { Resources.waitForHeap(heap + 8 << 20, atMost: Int(wait / 1_000_000_000) + 5) }
        let idioms = Interleaved(
            rounds: max(1, effort.rounds / 4),
            [
                { lull(atRandom) },
                {
                    var idioms: [Int: TaskIdiom] = [:]
                    let sample = Sample.of(submits) {
                        for (value, key) in atRandom.enumerated() {
                            idiom(for: key, in: &idioms) { TaskIdiom(wait: wait) { _ in } }.submit(value)
                        }
                    }
                    for idiom in idioms.values { idiom.cancel() }
                    return sample
                },
                {
                    let queue = DispatchQueue(label: "idiom")
                    var idioms: [Int: WorkItemIdiom] = [:]
                    let sample = Sample.of(submits) {
                        for (value, key) in atRandom.enumerated() {
                            idiom(for: key, in: &idioms) { WorkItemIdiom(wait: wait, queue: queue) { _ in } }.submit(
                                value)
                        }
                    }
                    for idiom in idioms.values { idiom.cancel() }
                    return sample
                },
            ])
        let allocations = Spread(
            zip(taken.sides[1], taken.sides[0]).map { $0.allocations - $1.allocations })
        return [
            taken.line("KeyedDebouncer, keys in turn", 1, against: "floor", 0, .ratioAtMost(1.5)),
            taken.line("KeyedDebouncer, keys at random", 3, against: "floor", 2, .ratioAtMost(1.5)),
            Line("allocations beyond the floor's", allocations, "", target: .figureAtMost(0.01)),
            idioms.line("a Task for each key", 1, against: "KeyedDebouncer", 0, by: \.cpu, .ratioAtLeast(12)),
            idioms.line(
                "a DispatchWorkItem for each key", 2, against: "KeyedDebouncer", 0, by: \.cpu, .ratioAtLeast(12)),
        ]
    }

    /// Returns the idiom of a key, created at its first submit.
    private static func idiom<Idiom>(for key: Int, in all: inout [Int: Idiom], _ make: () -> Idiom) -> Idiom {
        if let idiom = all[key] { return idiom }
        let idiom = make()
        all[key] = idiom
        return idiom
    }

    static func strings(_ effort: Effort) -> [Line] {
        func lull(_ keys: [String]) -> Sample {
            let debouncer = KeyedDebouncer<String, Int, Void>(
                for: .nanoseconds(wait), options: .init(atEnd: .drop)
            ) { _, _ in }
            return Sample.of(submits) { burst(debouncer, keys) }
        }
        func floor(_ keys: [String]) -> Sample {
            let floor = KeyedFloor<String, Int>(wait: wait) { _, _ in }
            return Sample.of(submits) { burst(floor, keys) }
        }
        let inTurn = inTurn.map(name)
        let atRandom = atRandom.map(name)
        let taken = Interleaved(
            rounds: effort.rounds,
            [{ floor(inTurn) }, { lull(inTurn) }, { floor(atRandom) }, { lull(atRandom) }])
        return [
            taken.line("KeyedDebouncer, keys in turn", 1, against: "floor", 0, .ratioAtMost(1.25)),
            taken.line("KeyedDebouncer, keys at random", 3, against: "floor", 2, .ratioAtMost(1.25)),
        ]
    }
}
