import Dispatch
import Foundation
import LullCore
import TestSupport
import Testing

@testable import Lull
import LullDispatch

// These tests are about real time. They assert what happens, how often, and never too early; where something must have
// happened by a certain time, that is generous.

@Suite("The scheduler", .timeLimit(.minutes(1)))
struct SchedulerTests {
    typealias Plain = Runtime<Int, Int, Void>

    /// A debouncer's runtime on a scheduler that only this test uses.
    static func runtime(
        _ wait: Duration, tolerance: CoreDuration = .zero, _ scheduler: Scheduler, on queue: DispatchQueue? = nil,
        _ body: @escaping @Sendable (Int) -> Void
    ) throws -> Plain {
        let handler: Plain.Handler =
            if let queue { .queue(queue, nil) { _, value in body(value) } } else {
                .task(on: nil, .one(nil) { _, value in body(value) })
            }
        let options = try CheckedOptions(
            setup: Setup(.debounce(for: wait)), atEnd: .executeWhenDue, tolerance: .zero,
            site: SourceSite(#fileID, #line))
        return Plain(
            options, clock: SchedulerClient(scheduler, queue, tolerance), onFailure: nil, handler: handler)
    }

    // Exit tests do not exist on the simulators of devices.
    #if os(macOS) || os(Linux)
        @Test(arguments: [true, false])
        func `serves thousands that are due at about one instant, with a few threads`(onQueue: Bool) async {
            #if os(Linux)
                if onQueue {
                    await #expect(processExitsWith: .success) { try await SchedulerTests.serveCrowd(onQueue: true) }
                } else {
                    await #expect(processExitsWith: .success) { try await SchedulerTests.serveCrowd(onQueue: false) }
                }
            #endif
        }
    #endif

    #if os(Linux)
        /// In a process of its own, whose threads are counted.
        static func serveCrowd(onQueue: Bool) async throws {
            func threads() -> Int {
                (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
            }
            let queue = DispatchQueue(label: "handler")
            let count = 5000
            let seen = Guarded(0)
            func make(_ wait: Duration) -> Debouncer<Int, Void> {
                let body = { @Sendable (_: Int) in seen.change { $0 += 1 } }
                return onQueue ? Debouncer(for: wait, on: queue, handler: body) : Debouncer(for: wait, handler: body)
            }
            // With the scheduler armed.
            let early = make(.milliseconds(1)), late = make(.seconds(3600))
            early(0)
            late(0)
            try await waitUntil { seen.value == 1 }
            let before = threads()
            let due = ContinuousClock.now + .seconds(1)
            let all = (0..<count).map { _ in make(.seconds(3600)) }
            for one in all { one.submit(1, after: ContinuousClock.now.duration(to: due)) }
            var most = 0
            try await waitUntil {
                most = max(most, threads())
                return seen.value > count
            }
            guard most - before <= 4 else {
                print("\(most) threads, \(before) before")
                exit(2)
            }
            withExtendedLifetime((all, late)) {}
        }
    #endif

    // The scheduler holds a client that has a deadline. A client that has been released has none.

    @Test(arguments: [true, false])
    func `retains no debouncer that is dropped with a day to wait`(onQueue: Bool) {
        final class Value: Sendable {
            let released: Record<Int>
            init(_ released: Record<Int>) { self.released = released }
            deinit { released.add(1) }
        }
        let released = Record<Int>()
        let queue = DispatchQueue(label: "handler")
        for round in 0..<100 {
            weak var client: SchedulerClient?
            do {
                let value = Value(released)
                let body = { @Sendable (_: Int) in withExtendedLifetime(value) {} }
                let wait = Duration.seconds(86_400 + round)
                let it =
                    onQueue
                    ? Debouncer(for: wait, on: queue, options: .init(atEnd: .drop), handler: body)
                    : Debouncer(for: wait, options: .init(atEnd: .drop), handler: body)
                it(1)
                client = it.runtime.clock as? SchedulerClient
                #expect(client.map { $0.index >= 0 } == true)
            }
            #expect(client == nil)
        }
        #expect(released.all.count == 100)
    }

    @Test
    func `retains no debouncer whose values were cancelled or flushed before it is dropped`() async throws {
        let queue = DispatchQueue(label: "handler")
        for round in 0..<100 {
            weak var client: SchedulerClient?
            do {
                let it = KeyedDebouncer(for: .seconds(86_400), on: queue) { (_: Int, _: Int) in }
                for key in 0..<3 { it.submit(1, for: key) }
                if round % 2 == 0 { it.cancel() } else { await it.flushAndWait() }
                if round % 3 == 0 { it.submit(1, for: 5, after: .zero) }
                client = it.runtime.clock as? SchedulerClient
            }
            try await waitUntil { client == nil }
        }
    }

    @Test
    func `retains a released debouncer until its values have been executed, and no longer`() async throws {
        let seen = Record<Int>()
        weak var runtime: Runtime<NoKey, Int, Void>?
        weak var client: SchedulerClient?
        do {
            let it = Debouncer(for: .milliseconds(20)) { (value: Int) in seen.add(value) }
            it(1)
            runtime = it.runtime
            client = it.runtime.clock as? SchedulerClient
        }
        #expect(seen.all.isEmpty == (runtime != nil))
        try await waitUntil { runtime == nil && client == nil }
        #expect(seen.all == [1])
    }

    @Test
    func `does what needs no handler while the queue of many handlers is blocked, and sends them one block each`()
        async throws
    {
        let scheduler = Scheduler()
        let queue = DispatchQueue(label: "suspended")
        queue.suspend()
        let seen = Record<Int>()
        let all = try (0..<200).map { number in
            try Self.runtime(.milliseconds(1 + number % 5), scheduler, on: queue) { seen.add($0) }
        }
        for (number, one) in all.enumerated() { one.submit(number, for: 0) }
        try await waitUntil { all.allSatisfy { one in one.lock.withLock { one.engine.tally.running == 1 } } }
        #expect(seen.all.isEmpty)
        queue.resume()
        try await waitUntil { seen.all.count == all.count }
        #expect(Set(seen.all) == Set(0..<all.count))
    }

    @Test(arguments: [true, false])
    func `wakes those together that tolerate it, and none of them early`(onQueue: Bool) async throws {
        let scheduler = Scheduler()
        let queue = onQueue ? DispatchQueue(label: "handler") : nil
        let ends = Record<(late: Duration, at: ContinuousClock.Instant)>()
        var lastDue = ContinuousClock.now
        let all = try (0..<50).map { number in
            let wait = Duration.milliseconds(200 + 5 * number)
            let start = Guarded(ContinuousClock.now)
            let one = try Self.runtime(wait, tolerance: .seconds(20), scheduler, on: queue) { _ in
                let now = ContinuousClock.now
                ends.add((start.value.duration(to: now) - wait, now))
            }
            _ = start.exchange(.now)
            lastDue = start.value + wait
            one.submit(1, for: 0)
            return one
        }
        try await waitUntil { ends.all.count == all.count }
        #expect(ends.all.allSatisfy { $0.late >= .zero })
        // A back-up may wake the first ones early. All others are woken with the last one.
        #expect(ends.all.count { $0.at < lastDue } <= 20)
    }

    @Test(arguments: [false, true])
    func `wakes once for what falls due shortly one after the other`(onQueue: Bool) async {
        let clock = SchedulerClient(Scheduler(), onQueue ? DispatchQueue(label: "handler") : nil, .zero)
        let wakings = 20
        let left = Guarded(wakings)
        let first = clock.now()
        await withCheckedContinuation { (end: CheckedContinuation<Void, Never>) in
            // All that was due has been done when the client is woken; the next value is due a microsecond after that.
            // A task that a busy pool holds up may arrive after bookkeeping has done its work, and after the end.
            clock.wake = { [weak clock] waking in
                let number = left.change { left in
                    left -= 1
                    return left
                }
                if number == 0 { end.resume() }
                guard let clock, number > 0 else { return }
                let next = clock.now().advanced(by: CoreDuration(nanoseconds: 1000))
                clock.scheduleWakeUp(at: next, stamp: UInt64(wakings - number + 1), after: waking)
            }
            clock.scheduleWakeUp(at: first, stamp: 1, after: nil)
        }
        #expect(first.duration(to: clock.now()) >= CoreDuration(nanoseconds: Int64(wakings - 1) * 100_000))
    }

    @Test
    func `sets no timer and no back-up when nothing is pending`() async throws {
        let scheduler = Scheduler()
        let seen = Record<Int>()
        let all = try (0..<20).map { _ in try Self.runtime(.milliseconds(400), scheduler) { seen.add($0) } }
        for one in all { one.submit(1, for: 0) }
        #expect(scheduler.lock.withLock { scheduler.armed != .never && !scheduler.backUps.all.isEmpty })
        try await waitUntil { seen.all.count == all.count }
        try await waitUntil { scheduler.lock.withLock { scheduler.armed == .never && scheduler.backUps.all.isEmpty } }
        withExtendedLifetime(all) {}
    }

    @Test(arguments: [true, false])
    func `runs nothing of the user's on its queue`(onQueue: Bool) async throws {
        let mark = DispatchSpecificKey<Bool>()
        Scheduler.shared.queue.setSpecific(key: mark, value: true)
        defer { Scheduler.shared.queue.setSpecific(key: mark, value: nil) }
        /// Records whether it was used, and released, on the scheduler's queue.
        struct Key: Hashable, Sendable {
            final class Name: Sendable {
                let look: @Sendable () -> Void
                init(_ look: @escaping @Sendable () -> Void) { self.look = look }
                deinit { look() }
            }
            let name: Name
            static func == (left: Key, right: Key) -> Bool {
                left.name.look()
                return left.name === right.name
            }
            func hash(into hasher: inout Hasher) {
                name.look()
                hasher.combine(ObjectIdentifier(name))
            }
        }
        let looks = Record<Bool>()
        let look = { @Sendable in looks.add(DispatchQueue.getSpecific(key: mark) == true) }
        struct WeakClient {
            weak var client: SchedulerClient?
        }
        let executed = Record<Int>()
        let rounds = 50
        var clients: [WeakClient] = []
        for round in 0..<rounds {
            let handle = { @Sendable (_: Key, value: Key.Name) in
                value.look()
                executed.add(round)
            }
            let merge = Combination<Key.Name>.merge { pending, value in
                look()
                pending = value
            }
            let wait = Duration.milliseconds(1 + round % 7)
            let it =
                onQueue
                ? KeyedDebouncer(for: wait, on: .global(), combining: merge, handler: handle)
                : KeyedDebouncer(for: wait, combining: merge, handler: handle)
            clients.append(WeakClient(client: it.runtime.clock as? SchedulerClient))
            let key = Key(name: Key.Name(look))
            for _ in 0..<2 { it.submit(Key.Name(look), for: key) }
        }
        // A machine that stands still between the two submits of a round makes two bursts of them.
        try await waitUntil { Set(executed.all).count == rounds && clients.allSatisfy { $0.client == nil } }
        #expect(looks.all.count > 5 * rounds)
        #expect(!looks.all.contains(true))
    }

    @Test
    func
        `a tolerance without end is one of a year, since otherwise nothing might ever be executed`()
    {
        let it = Debouncer(for: .seconds(1), options: .init(tolerance: .seconds(Int64.max))) { (_: Int) in }
        #expect((it.runtime.clock as? SchedulerClient)?.tolerance == .seconds(365 * 24 * 3600))
    }
}
