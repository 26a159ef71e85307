import LullCore
import Testing

@testable import LullCommand

/// Executions that wait for descriptors, processes or memory.
@Suite("Starts that wait")
struct WaitingStartsTests {
    private var waiting = WaitingStarts()

    private func item(_ id: Int64, isStored: Bool = false) -> PreparedCommand {
        PreparedCommand(
            id: id, key: Key(bytes: []), isStored: isStored, records: Batch([]), texts: .success(([], [])), input: nil)
    }

    private func at(_ milliseconds: Int64) -> CoreInstant { CoreInstant(nanoseconds: milliseconds * 1_000_000) }

    /// - Returns: Those that end.
    private mutating func fail(_ items: [PreparedCommand], isAlone: Bool, at milliseconds: Int64) -> [Int64] {
        waiting.putBack(items, isAlone: isAlone, at: at(milliseconds)).map(\.id)
    }

    private mutating func next(at milliseconds: Int64) -> Int64? { waiting.next(at: at(milliseconds))?.id }

    @Test mutating func `the first is tried when a command has ended, and the others when it has started`() {
        let ended = fail([item(1)], isAlone: false, at: 0)
        waiting.append(item(2))
        let early = next(at: 0)
        waiting.commandEnded()
        let first = next(at: 1)
        waiting.started()
        let (second, none) = (next(at: 1), next(at: 1))
        #expect(ended == [] && early == nil && first == 1 && second == 2 && none == nil)
    }

    @Test mutating func `what has failed again stays first, and is tried after ever longer pauses`() {
        _ = fail([item(1)], isAlone: false, at: 0)
        waiting.append(item(2))
        var (firsts, pauses): ([Int64], [Int64]) = ([], [])
        for _ in 0..<8 {
            let now = waiting.nextTry
            let first = [waiting.next(at: now)].compactMap(\.self)
            firsts += first.map(\.id)
            _ = waiting.putBack(first, isAlone: false, at: now)
            pauses.append(now.duration(to: waiting.nextTry).nanoseconds / 1_000_000)
        }
        #expect(firsts == Array(repeating: 1, count: 8))
        #expect(pauses == [40, 80, 160, 320, 640, 1000, 1000, 1000])
    }

    @Test mutating func `while a command runs nothing waits in vain`() {
        let ended = [0, 1000, 60_000].flatMap { fail($0 == 0 ? [item(1)] : [], isAlone: false, at: $0) }
        #expect(ended == [])
    }

    @Test mutating func `without one all end after five seconds, and later ones at once until one has started`() {
        let before = fail([item(1)], isAlone: true, at: 0) + fail([item(2)], isAlone: true, at: 4999)
        let all = fail([], isAlone: true, at: 5000)
        let isOver = waiting.isEmpty && waiting.nextTry == .farFuture
        let later = fail([item(3)], isAlone: true, at: 6000)
        waiting.started()
        let again = fail([item(4)], isAlone: true, at: 6000)
        #expect(before == [] && all == [2, 1] && isOver && later == [3] && again == [])
    }

    @Test mutating func `what comes from a store goes back at once if no command runs`() {
        let before = fail([item(1, isStored: true)], isAlone: false, at: 0)
        let alone = fail([], isAlone: true, at: 20)
        #expect(before == [] && alone == [1])
    }
}
