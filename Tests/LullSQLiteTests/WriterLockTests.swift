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

    @Test func `only one writer holds the lock`() throws {
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

    @Test func `a writer that gave up blocks no other`() throws {
        let first = try WriterLock(besides: place.path)
        let second = try WriterLock(besides: place.path)
        let third = try WriterLock(besides: place.path)
        try first.acquire(within: .zero)
        #expect(throws: DurableError.self) { try second.acquire(within: .zero) }
        first.release()
        try third.acquire(within: .zero)
        third.release()
    }

    /// Returns how many locks of the file wait: the first one for its holder, the others for the first one.
    private func waiters() throws -> Int {
        let inode = try #require(
            FileManager.default.attributesOfItem(atPath: place.path + "-want")[.systemFileNumber] as? Int)
        // Such as "1: -> FLOCK  ADVISORY  WRITE 5256 00:19:1234 0 EOF".
        let locks = try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n")
        return locks.count { $0.contains(":\(inode) ") }
    }

    /// Returns when so many wait, so that the next one comes after them.
    private func waitForWaiters(_ count: Int) throws { try blockUntil { try waiters() >= count } }

    /// Starts a thread that acquires the lock, notes its number and releases the lock.
    private func startWriter(_ number: Int, _ order: Guarded<[Int]>, _ ended: DispatchSemaphore) {
        let path = place.path
        Thread.detachNewThread {
            defer { ended.signal() }
            guard let lock = try? WriterLock(besides: path), (try? lock.acquire(within: .seconds(60))) != nil else {
                return
            }
            order.change { $0.append(number) }
            lock.release()
        }
    }

    #if os(Linux)
        @Test func `a writer that commits without pause lets others in`() throws {
            let turns = Guarded(0)
            let isOver = Guarded(false)
            let path = place.path
            let ended = DispatchSemaphore(value: 0)
            let busy = Thread {
                defer { ended.signal() }
                guard let writerLock = try? WriterLock(besides: path) else { return }
                while !isOver.value {
                    guard (try? writerLock.acquire(within: .seconds(10))) != nil else { return }
                    turns.change { $0 += 1 }
                    try? blockUntil { try waiters() > 0 || isOver.value }
                    writerLock.release()
                }
            }
            busy.start()
            let writerLock = try WriterLock(besides: path)
            var (before, most) = (0, 0)
            for _ in 0..<20 {
                try blockUntil { turns.value != before }
                let start = turns.value
                try writerLock.acquire(within: .seconds(10))
                most = max(most, turns.value - start)
                before = turns.value
                writerLock.release()
            }
            isOver.change { $0 = true }
            ended.wait()
            // The turn that was under way, and a few more. Without the order of the locks there were hundreds.
            #expect(most <= 10)
        }

        @Test func `waiters get the lock in the order in which they came`() throws {
            let holder = try WriterLock(besides: place.path)
            try holder.acquire(within: .zero)
            let order = Guarded<[Int]>([])
            let ended = DispatchSemaphore(value: 0)
            for number in 0..<20 {
                startWriter(number, order, ended)
                try waitForWaiters(number + 1)
            }
            holder.release()
            for _ in 0..<20 { ended.wait() }
            #expect(order.value == Array(0..<20))
        }

        @Test func `a waiter that gave up keeps its place and holds up nobody`() throws {
            let holder = try WriterLock(besides: place.path)
            try holder.acquire(within: .zero)
            let order = Guarded<[Int]>([])
            let ended = DispatchSemaphore(value: 0)
            startWriter(0, order, ended)
            try waitForWaiters(1)
            let impatient = try WriterLock(besides: place.path)
            for _ in 0..<3 {
                #expect(throws: DurableError.self) { try impatient.acquire(within: .milliseconds(5)) }
                try waitForWaiters(2)
            }
            startWriter(2, order, ended)
            try waitForWaiters(3)
            holder.release()
            // It came back in time, and goes before the one that came later.
            try impatient.acquire(within: .seconds(60))
            order.change { $0.append(1) }
            impatient.release()
            for _ in 0..<2 { ended.wait() }
            #expect(order.value == [0, 1, 2])

            try holder.acquire(within: .seconds(60))
            startWriter(3, order, ended)
            try waitForWaiters(1)
            #expect(throws: DurableError.self) { try impatient.acquire(within: .milliseconds(5)) }
            startWriter(4, order, ended)
            try waitForWaiters(3)
            holder.release()
            for _ in 0..<2 { ended.wait() }
            #expect(order.value == [0, 1, 2, 3, 4])
            try impatient.acquire(within: .seconds(60))
            impatient.release()
        }
    #endif

    @Test func `a file that cannot be locked is an error`() {
        #expect(throws: DurableError.self) { try WriterLock(besides: place.directory + "/none/x") }
    }
}
