import Testing

@testable import LullCore
@testable import LullEngine

/// Keys and values lie behind the core's own data, in memory whose layout is computed.
@Suite("Cells")
struct CellTests {
    private struct Nothing: Hashable {}

    @Test(arguments: CombinationRule.all)
    func `keys and values of any size and alignment come out as they went in`(_ combination: CombinationRule) throws {
        let vectors = (0..<70).map { SIMD8<Int64>(repeating: Int64($0)) }
        let bytes = (0..<70).map { UInt8($0) }
        let texts = (0..<70).map { "a text that is too long to be inline: \($0)" }
        let nothing = (0..<70).map { _ in Nothing() }
        try check(bytes, nothing, combination)
        try check(bytes, vectors, combination)
        try check(vectors, bytes, combination)
        try check(vectors, texts, combination)
        try check(texts, vectors, combination)
        try check(texts, texts, combination)
        try check([Nothing()], texts, combination)
        try check([Nothing()], nothing, combination)
    }

    /// Submits values under every key, with one slot for all executions, so that values move to where they wait and the
    /// first blocks grow; and compares what is executed.
    private func check<Key: Hashable, Value: Hashable>(
        _ keys: [Key], _ values: [Value], _ combination: CombinationRule
    ) throws {
        let maxBatch = combination == .collect ? 2 : nil
        var engine = Engine<Key, Value>(
            try Setup(.debounce(10), combination: combination, maxConcurrent: 1, maxBatch: maxBatch))
        var executions: [Execution<Key, Value>] = []
        var executed: [Key: [Value]] = [:]
        func take(_ actions: Actions<Key, Value>) {
            for case .start(let execution) in actions.more {
                executions.append(execution)
                executed[execution.key, default: []] += execution.batch.values
            }
        }
        for round in 0..<3 {
            for (number, key) in keys.enumerated() {
                for value in values[number % 60..<number % 60 + 3] {
                    take(engine.submit(value, for: key, at: CoreInstant(round * 100)))
                }
            }
            // In the second round, values join those that wait.
            take(engine.advance(to: CoreInstant(round * 100 + 50)))
        }
        while let execution = executions.popLast() { take(engine.ended(execution.run, .returned).1) }
        #expect(engine.counters.addUp && engine.counters.pending == 0)
        for (number, key) in keys.enumerated() {
            let given = Array(values[number % 60..<number % 60 + 3])
            // The first key's value started at once, and the others joined those that waited.
            let starts = number == 0 ? 2 : 1
            let expected: [Value] =
                switch combination {
                case .latest: Array(repeating: given[2], count: starts)
                case .first: Array(repeating: given[0], count: starts)
                case .collect: given + given + given
                }
            #expect(executed[key] == expected)
        }
    }
}

extension CombinationRule {
    fileprivate static let all: [CombinationRule] = [.latest, .first, .collect]
}
