import LullCore
import Testing

@testable import LullCommand

/// Executions that wait for descriptors, processes or memory.
@Suite("Starts that wait")
struct WaitingStartsTests {
    private func item(_ id: Int64, isStored: Bool = false) -> WorkItem {
        WorkItem(id: id, isStored: isStored)
    }

    private func at(_ milliseconds: Int64) -> CoreInstant { CoreInstant(nanoseconds: milliseconds * 1_000_000) }

    @Test func `the first is tried when a command has ended, and the others when it has started`() {
        var waiting = WaitingStarts()
        let ended1 = waiting.putBack([item(1)], isAlone: false, at: at(0))
        #expect(ended1.isEmpty)
        waiting.append(item(2))
        let early = waiting.next(at: at(0))
        #expect(early == nil)
        waiting.commandEnded()
        let first = waiting.next(at: at(1))
        waiting.started()
        let (second, none) = (waiting.next(at: at(1)), waiting.next(at: at(1)))
        #expect(first?.id == 1 && second?.id == 2 && none == nil)
    }

    @Test func `what has failed again stays first, and is tried after ever longer pauses`() {
        var waiting = WaitingStarts()
        _ = waiting.putBack([item(1)], isAlone: false, at: at(0))
        waiting.append(item(2))
        var pauses: [Int64] = []
        for _ in 0..<8 {
            let now = waiting.nextTry
            let first = waiting.next(at: now)
            #expect(first?.id == 1)
            _ = waiting.putBack([first].compactMap(\.self), isAlone: false, at: now)
            pauses.append(now.duration(to: waiting.nextTry).nanoseconds / 1_000_000)
        }
        #expect(pauses == [40, 80, 160, 320, 640, 1000, 1000, 1000])
    }

    @Test func `while a command runs nothing waits in vain`() {
        var waiting = WaitingStarts()
        for time in 0..<60 {
            let ended = waiting.putBack([], isAlone: false, at: at(1000 * Int64(time)))
            #expect(ended.isEmpty)
        }
    }

    @Test func `without one all end after five seconds, and later ones at once until one has started`() {
        var waiting = WaitingStarts()
        let ended2 = waiting.putBack([item(1)], isAlone: true, at: at(0))
        #expect(ended2.isEmpty)
        waiting.append(item(2))
        let ended3 = waiting.putBack([], isAlone: true, at: at(4999))
        #expect(ended3.isEmpty)
        let ended4 = waiting.putBack([], isAlone: true, at: at(5000))
        #expect(ended4.map(\.id) == [1, 2])
        #expect(waiting.isEmpty && waiting.nextTry == .farFuture)
        let ended5 = waiting.putBack([item(3)], isAlone: true, at: at(6000))
        #expect(ended5.map(\.id) == [3])
        waiting.started()
        let ended6 = waiting.putBack([item(4)], isAlone: true, at: at(6000))
        #expect(ended6.isEmpty)
    }

    @Test func `what comes from a store goes back at once if no command runs`() {
        var waiting = WaitingStarts()
        let ended7 = waiting.putBack([item(1, isStored: true)], isAlone: false, at: at(0))
        #expect(ended7.isEmpty)
        let ended8 = waiting.putBack([], isAlone: true, at: at(20))
        #expect(ended8.map(\.id) == [1])
    }
}

extension WorkItem {
    fileprivate init(id: Int64, isStored: Bool) {
        self.init(
            id: id, key: Key(bytes: []), batch: Batch([]), combining: .latest,
            due: LullCore.Gate.Due(at: .farPast, edge: .trailing, count: 1, first: .farPast), attempt: isStored ? 1 : nil)
    }
}
