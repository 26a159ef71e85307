import Foundation
import LullDurable
import Synchronization
import TestSupport
import Testing

@testable import LullSQLite

@Suite(.ownThreads) struct TurnstileTests {
    private let place: Place

    init() throws {
        place = try Place()
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
        let turns = Mutex(0)
        let isOver = Mutex(false)
        let path = place.path
        let ended = DispatchSemaphore(value: 0)
        let busy = Thread {
            defer { ended.signal() }
            guard let turnstile = try? Turnstile(besides: path) else { return }
            while !isOver.withLock({ $0 }) {
                guard (try? turnstile.enter(within: .seconds(10))) != nil else { return }
                usleep(1000)
                turns.withLock { $0 += 1 }
                turnstile.leave()
            }
        }
        busy.start()
        let turnstile = try Turnstile(besides: path)
        var most = 0
        for _ in 0..<20 {
            let before = turns.withLock { $0 }
            while turns.withLock({ $0 }) == before { usleep(100) }
            let start = turns.withLock { $0 }
            try turnstile.enter(within: .seconds(10))
            most = max(most, turns.withLock { $0 } - start)
            turnstile.leave()
        }
        isOver.withLock { $0 = true }
        ended.wait()
        // The turn that was under way, and few more: without order it had hundreds.
        #expect(most <= 10)
    }

    @Test func whatCannotBeLockedIsSaid() {
        #expect(throws: DurableError.self) { try Turnstile(besides: place.directory + "/none/x") }
    }
}
