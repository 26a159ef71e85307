import Foundation
import LullDurable
import Lull
import TestSupport
import Testing

@testable import LullSQLite

@Suite(.ownThreads) struct WriterLockTests {
    private let place: Place

    init() throws {
        place = try Place()
        try Data().write(to: URL(fileURLWithPath: place.path))
    }

    @Test func onlyOneWriterHoldsTheLock() throws {
        let first = try WriterLock(besides: place.path)
        let second = try WriterLock(besides: place.path)
        try first.acquire(within: .zero)
        #expect(throws: DurableError.refused("\(place.path) is locked by another process for too long")) {
            try second.acquire(within: .milliseconds(5))
        }
        first.release()
        try second.acquire(within: .zero)
        second.release()
        try first.acquire(within: .zero)
        first.release()
    }

    @Test func aWriterThatGaveUpBlocksNoOther() throws {
        let first = try WriterLock(besides: place.path)
        let second = try WriterLock(besides: place.path)
        let third = try WriterLock(besides: place.path)
        try first.acquire(within: .zero)
        #expect(throws: DurableError.self) { try second.acquire(within: .zero) }
        first.release()
        try third.acquire(within: .zero)
        third.release()
    }

    @Test func aWriterThatCommitsWithoutPauseLetsOthersIn() throws {
        let turns = Guarded(0)
        let isOver = Guarded(false)
        let path = place.path
        let ended = DispatchSemaphore(value: 0)
        let busy = Thread {
            defer { ended.signal() }
            guard let writerLock = try? WriterLock(besides: path) else { return }
            while !isOver.value {
                guard (try? writerLock.acquire(within: .seconds(10))) != nil else { return }
                usleep(1000)
                turns.change { $0 += 1 }
                writerLock.release()
            }
        }
        busy.start()
        let writerLock = try WriterLock(besides: path)
        var most = 0
        for _ in 0..<20 {
            let before = turns.value
            while turns.value == before { usleep(100) }
            let start = turns.value
            try writerLock.acquire(within: .seconds(10))
            most = max(most, turns.value - start)
            writerLock.release()
        }
        isOver.change { $0 = true }
        ended.wait()
        // The turn that was under way, and a few more. Without the order of the locks there were hundreds.
        #expect(most <= 10)
    }

    @Test func aFileThatCannotBeLockedIsAnError() {
        #expect(throws: DurableError.self) { try WriterLock(besides: place.directory + "/none/x") }
    }
}
