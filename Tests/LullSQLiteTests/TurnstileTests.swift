import Foundation
import LullDurable
import Lull
import TestSupport
import Testing

@testable import LullSQLite

@Suite(.ownThreads) struct TurnstileTests {
    private let place: Place

    init() throws {
        place = try Place()
        try Data().write(to: URL(fileURLWithPath: place.path))
    }

    @Test func oneAtATimeIsLetThrough() throws {
        let first = try Turnstile(besides: place.path)
        let second = try Turnstile(besides: place.path)
        try first.enter(within: .zero)
        #expect(throws: DurableError.refused("\(place.path) is locked by another process for too long")) {
            try second.enter(within: .milliseconds(5))
        }
        first.leave()
        try second.enter(within: .zero)
        second.leave()
        try first.enter(within: .zero)
        first.leave()
    }

    @Test func whoGaveUpIsInNobodysWay() throws {
        let first = try Turnstile(besides: place.path)
        let second = try Turnstile(besides: place.path)
        let third = try Turnstile(besides: place.path)
        try first.enter(within: .zero)
        #expect(throws: DurableError.self) { try second.enter(within: .zero) }
        first.leave()
        try third.enter(within: .zero)
        third.leave()
    }

    @Test func whoCommitsWithoutPauseLetsOthersIn() throws {
        let turns = Guarded(0)
        let isOver = Guarded(false)
        let path = place.path
        let ended = DispatchSemaphore(value: 0)
        let busy = Thread {
            defer { ended.signal() }
            guard let turnstile = try? Turnstile(besides: path) else { return }
            while !isOver.value {
                guard (try? turnstile.enter(within: .seconds(10))) != nil else { return }
                usleep(1000)
                turns.change { $0 += 1 }
                turnstile.leave()
            }
        }
        busy.start()
        let turnstile = try Turnstile(besides: path)
        var most = 0
        for _ in 0..<20 {
            let before = turns.value
            while turns.value == before { usleep(100) }
            let start = turns.value
            try turnstile.enter(within: .seconds(10))
            most = max(most, turns.value - start)
            turnstile.leave()
        }
        isOver.change { $0 = true }
        ended.wait()
        // The turn that was under way, and few more: without order it had hundreds.
        #expect(most <= 10)
    }

    @Test func whatCannotBeLockedIsSaid() {
        #expect(throws: DurableError.self) { try Turnstile(besides: place.directory + "/none/x") }
    }
}
