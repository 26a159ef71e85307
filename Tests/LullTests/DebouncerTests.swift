import TestSupport
import Lull
import LullTesting
import Testing

@Suite("A debouncer")
struct DebouncerTests {
    let clock = ManualClock()
    let seen = Record<String>()

    @Test
    func `executes the newest value once, when the wait has passed since the last submit`() async {
        let save = Debouncer(for: .seconds(2), clock: clock) { [seen] (draft: String) in seen.add(draft) }
        save("a")
        await clock.advance(by: .seconds(1))
        save("ab")
        await clock.advance(by: .milliseconds(1999))
        #expect(seen.all == [])
        await clock.advance(by: .milliseconds(1))
        #expect(seen.all == ["ab"])
        await clock.advance(by: .seconds(100))
        #expect(seen.all == ["ab"])
    }

    @Test
    func `needs no value under a key either`() async throws {
        let rebuild = KeyedDebouncer(for: .seconds(2), clock: clock) { [seen] (page: String, _: Void) in seen.add(page)
        }
        rebuild.submit(for: "home")
        rebuild.submit(for: "home")
        rebuild.submit(for: "about") { [seen] outcome in if case .executed = outcome { seen.add("told") } }
        let outcome = clock.task { try await rebuild.outcome(for: "news") }
        await clock.advance(by: .zero, until: .started)
        await clock.advance(by: .seconds(2))
        guard case .executed = try await outcome.value else { Issue.record("not executed"); return }
        #expect(Set(seen.all) == ["home", "about", "news", "told"])
        #expect(seen.all.count == 4)
    }

    @Test
    func `executes at the latest when maxWait has passed`() async {
        let save = Debouncer(for: .seconds(2), maxWait: .seconds(3), clock: clock) { [seen] (draft: String) in
            seen.add(draft)
        }
        for draft in ["a", "b", "c", "d", "e"] {
            save(draft)
            await clock.advance(by: .seconds(1))
        }
        #expect(seen.all == ["c"])
    }

    @Test
    func `executes the first value at once with the leading edge`() async {
        let save = Debouncer(for: .seconds(2), edges: .leading, clock: clock) { [seen] (draft: String) in
            seen.add(draft)
        }
        save("a")
        await clock.advance(by: .zero)
        #expect(seen.all == ["a"])
        save("b")
        await clock.advance(by: .seconds(2))
        #expect(seen.all == ["a"])
        save("c")
        await clock.advance(by: .zero)
        #expect(seen.all == ["a", "c"])
    }

    @Test
    func `takes a delay of its own for a single call`() async {
        let save = Debouncer(for: .seconds(2), clock: clock) { [seen] (draft: String) in seen.add(draft) }
        save.submit("a", after: .seconds(5))
        await clock.advance(by: .seconds(4))
        #expect(seen.all == [])
        #expect(save.state.timeUntilDue == .seconds(1))
        save.submit("b", after: .milliseconds(1))
        await clock.advance(by: .milliseconds(1))
        #expect(seen.all == ["b"])
    }

    @Test
    func `lets the longest delay rule under extend`() async {
        let save = Debouncer(
            for: .seconds(2), options: .init(delayRule: .extend), clock: clock
        ) { [seen] (draft: String) in
            seen.add(draft)
        }
        save.submit("a", after: .seconds(5))
        save.submit("b", after: .seconds(1))
        await clock.advance(by: .seconds(4))
        #expect(seen.all == [])
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["b"])
    }

    @Test(arguments: [true, false])
    func `treats a negative delay as zero and an endless one as the far future`(negative: Bool) async {
        let save = Debouncer(for: .seconds(2), clock: clock) { [seen] (draft: String) in seen.add(draft) }
        save.submit("a", after: negative ? .seconds(-5) : .seconds(Int64.max))
        await clock.advance(by: .seconds(1_000_000_000))
        #expect(seen.all == (negative ? ["a"] : []))
        #expect((save.state.pending > 0) == !negative)
        save.flush()
        await clock.advance(by: .zero)
        #expect(seen.all == ["a"])
    }

    @Test
    func `executes at once what reaches maxCount`() async {
        let save = Debouncer(
            collectingFor: .seconds(2), maxCount: 3, clock: clock
        ) { [seen] (drafts: [String]) in
            seen.add(drafts.joined(separator: "+"))
        }
        for draft in ["a", "b", "c", "d"] { save(draft) }
        await clock.advance(by: .zero)
        #expect(seen.all == ["a+b+c"])
        await clock.advance(by: .seconds(2))
        #expect(seen.all == ["a+b+c", "d"])
    }

    @Test
    func `needs no value`() async {
        let save = Debouncer(for: .seconds(2), clock: clock) { [seen] in seen.add("saved") }
        save()
        save.submit()
        await clock.advance(by: .seconds(2))
        #expect(seen.all == ["saved"])
        #expect(save.counters.submitted == 2)
    }

    @Test
    func `keeps keys apart`() async {
        let levels = KeyedDebouncer(for: .seconds(2), clock: clock) { [seen] (device: String, level: Int) in
            seen.add("\(device)=\(level)")
        }
        levels.submit(1, for: "lamp")
        await clock.advance(by: .seconds(1))
        levels.submit(2, for: "fan")
        levels.submit(3, for: "lamp")
        levels.submit(4, for: "lamp", after: .seconds(5))
        #expect(levels.keyCount == 2)
        await clock.advance(by: .seconds(2))
        #expect(seen.all == ["fan=2"])
        #expect(levels.state(of: "lamp").pending > 0)
        #expect(levels.state(of: "fan").pending == 0)
        #expect(levels.state(of: "lamp").timeUntilDue == .seconds(3))
        await clock.advance(by: .seconds(3))
        #expect(seen.all == ["fan=2", "lamp=4"])
        #expect(levels.keyCount == 0)
    }

    @Test
    func `answers what is pending as if everything due by now had been done`() async {
        let save = Debouncer(for: .zero, clock: clock) { [seen] (draft: String) in seen.add(draft) }
        save("a")
        #expect(save.state.pending == 0)
        #expect(save.state.timeUntilDue == nil)
    }
}

@Suite("A throttler")
struct ThrottlerTests {
    let clock = ManualClock()
    let seen = Record<Int>()

    @Test
    func `executes at once, then the newest value at most once an interval`() async {
        let report = Throttler(every: .seconds(1), clock: clock) { [seen] (value: Int) in seen.add(value) }
        for value in 0..<10 {
            report(value)
            await clock.advance(by: .milliseconds(300))
        }
        await clock.advance(by: .seconds(10))
        #expect(seen.all == [0, 3, 6, 9])
    }

    @Test
    func `ignores what comes inside a window with the leading edge alone`() async {
        let report = Throttler(every: .seconds(1), edges: .leading, clock: clock) { [seen] (value: Int) in
            seen.add(value)
        }
        report(1)
        report(2)
        await clock.advance(by: .seconds(1))
        report(3)
        await clock.advance(by: .seconds(1))
        #expect(seen.all == [1, 3])
        #expect(report.counters.absorbed == 1)
    }

    @Test
    func `keeps keys apart`() async {
        let record = Record<String>()
        let sync = KeyedThrottler(every: .seconds(1), clock: clock) { (category: String, value: Int) in
            record.add("\(category)\(value)")
        }
        sync.submit(1, for: "a")
        sync.submit(1, for: "b")
        sync.submit(2, for: "a")
        await clock.advance(by: .zero)
        #expect(Set(record.all) == ["a1", "b1"])
        await clock.advance(by: .seconds(1))
        #expect(record.all.last == "a2")
    }
}
