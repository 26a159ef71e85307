internal import LullCore
internal import LullDurable
internal import Testing

extension ConformanceCase {
    /// Pausing a namespace, and ending its pause.
    static let pauses: [ConformanceCase] = [
        ConformanceCase("a paused namespace hands out nothing, and says why, until it is resumed") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("a")
            fixture.pass(10)
            #expect(try await fixture.pause("maintenance").reason == "maintenance")
            for _ in 0..<2 {
                let answer = try await fixture.answer()
                #expect(answer.runs == [] && answer.dead == [] && answer.next == nil)
                #expect(answer.pause?.reason == "maintenance")
                fixture.pass(100)
            }
            #expect(try await fixture.resume())
            let answer = try await fixture.answer()
            #expect(answer.runs.map(\.text) == ["k trailing a"] && answer.pause == nil)
        },
        ConformanceCase("nothing is taken over from a dead worker during a pause, and no lease is counted as lost") {
            fixture in
            try await fixture.open(.debounce(0))
            try await fixture.submit("a")
            let run = try await fixture.claimOne(by: 1, lease: 100, maxAttempts: 1)
            try await fixture.pause()
            fixture.pass(100)
            #expect(try await fixture.answer(by: 2, maxAttempts: 1).dead == [])
            #expect(try await fixture.store.status().map(\.lostLeases) == [0])
            #expect(try await fixture.report(.heartbeat(lease: .milliseconds(100)), run) == .accepted)
            fixture.pass(100)
            #expect(try await fixture.resume())
            #expect(try await fixture.answer(by: 2, maxAttempts: 1).dead.map(\.id) == [run.id])
            #expect(try await fixture.store.status().map(\.lostLeases) == [1])
        },
        ConformanceCase("a run whose answer was lost is handed out again after the pause, without another attempt") {
            fixture in
            try await fixture.open(.debounce(0))
            try await fixture.submit("a")
            let run = try await fixture.claimOne()
            try await fixture.pause()
            #expect(try await fixture.claim() == [])
            try await fixture.resume()
            let again = try await fixture.claimOne()
            #expect(again.id == run.id && again.fence > run.fence && again.attempt == 1)
        },
        ConformanceCase("what workers hold goes on during a pause, and is reported") { fixture in
            try await fixture.open(.debounce(0))
            for key in ["a", "b", "c"] { try await fixture.submit("1", key) }
            let runs = try await fixture.claim()
            try await fixture.pause()
            #expect(try await fixture.report(.heartbeat(lease: .milliseconds(500)), runs[0]) == .accepted)
            #expect(try await fixture.complete(runs[0]) == .accepted)
            #expect(try await fixture.fail(runs[1], retry: 10) == .accepted)
            #expect(try await fixture.report(.released, runs[2]) == .accepted)
            fixture.pass(10)
            #expect(try await fixture.claim(by: 2) == [])
            try await fixture.resume()
            #expect(try await fixture.claim(by: 2).map(\.attempt).sorted() == [1, 2])
        },
        ConformanceCase("submits, dues, flushes, cancels and retries go on during a pause") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("z", "dead", wait: 0)
            let dead = try await fixture.claimOne()
            try await fixture.fail(dead, retry: nil)
            try await fixture.pause("the API is down")
            let receipt = try await fixture.submit("1", "due")
            let first = try await fixture.submit("1", "flushed", wait: 5000)
            let second = try await fixture.submit("1", "cancelled")
            fixture.pass(10)
            #expect(try await fixture.state(receipt) == .ready)
            #expect(try await fixture.flush("flushed") == 1)
            #expect(try await fixture.state(first) == .ready)
            #expect(try await fixture.cancel("cancelled") == 1)
            #expect(try await fixture.state(second) == .cancelled)
            #expect(try await fixture.retry(dead) == .accepted)
            let status = try await fixture.store.status()
            #expect(status.map(\.ready) == [2] && status.map(\.retrying) == [1] && status.map(\.dead) == [0])
            #expect(status.map(\.oldestDue) == [.zero] && status.map(\.pause?.reason) == ["the API is down"])
            #expect(try await fixture.claim() == [])
            try await fixture.resume()
            #expect(Set(try await fixture.work()) == ["due trailing 1", "flushed flush 1", "dead trailing z"])
        },
        ConformanceCase("a namespace that is paused again keeps the time, and its reason unless there is another") {
            fixture in
            try await fixture.open(.debounce(10))
            let first = try await fixture.pause()
            #expect(first.reason == nil)
            fixture.pass(1000)
            #expect(try await fixture.pause("one") == DurablePause(reason: "one", time: first.time))
            #expect(try await fixture.pause() == DurablePause(reason: "one", time: first.time))
            #expect(try await fixture.pause("") == DurablePause(reason: "one", time: first.time))
            let last = DurablePause(reason: "two", time: first.time)
            #expect(try await fixture.pause("two") == last)
            #expect(try await fixture.store.status().map(\.pause) == [last])
            #expect(try await fixture.answer().pause == last)
            #expect(try await fixture.resume())
            #expect(try await !fixture.resume())
            #expect(try await fixture.store.status().map(\.pause) == [nil])
            fixture.pass(1000)
            let second = try await fixture.pause()
            #expect(second.reason == nil && second.time >= first.time + .milliseconds(2000))
        },
        ConformanceCase("a pause outlives the process, and a change of the policy") { fixture in
            try await fixture.open(.debounce(10))
            let pause = try await fixture.pause("a long one")
            let fixture = try await fixture.reopened()
            try await fixture.change(.debounce(20))
            #expect(try await fixture.store.status().map(\.pause) == [pause])
            try await fixture.submit("a", wait: 0)
            #expect(try await fixture.claim() == [])
            #expect(try await fixture.resume())
            #expect(try await fixture.work() == ["k trailing a"])
            await fixture.closeOther()
        },
        ConformanceCase("a pause concerns one namespace") { fixture in
            try await fixture.open(.debounce(0))
            try await fixture.open(.debounce(0), "m")
            try await fixture.submit("a")
            try await fixture.submit("b", in: "m")
            try await fixture.pause()
            #expect(try await fixture.claim(in: "m").map(\.text) == ["k trailing b"])
            #expect(try await fixture.claim() == [])
            #expect(try await fixture.store.status().map { $0.pause != nil } == [false, true])
        },
        ConformanceCase("an unknown namespace is neither paused nor resumed, and one that was forgotten is not paused")
        {
            fixture in
            await #expect(throws: DurableError.noPolicy(namespace: "n")) { try await fixture.pause() }
            await #expect(throws: DurableError.noPolicy(namespace: "n")) { try await fixture.resume() }
            try await fixture.open(.debounce(10))
            try await fixture.pause("old")
            try await fixture.store.forget(StoreFixture.namespace)
            try await fixture.open(.debounce(10))
            #expect(try await fixture.store.status().map(\.pause) == [nil])
            #expect(try await !fixture.resume())
        },
        ConformanceCase("a reason is kept as it is written, up to its limit") { fixture in
            try await fixture.open(.debounce(10))
            for reason in ["two\nlines", "\u{1F9F0} 'quoted' \"twice\" \\ %s {}", String(repeating: "ä", count: 500)] {
                #expect(try await fixture.pause(reason).reason == reason)
                #expect(try await fixture.store.status().map(\.pause?.reason) == [reason])
            }
            #expect(try await fixture.pause(String(repeating: "y", count: 501)).reason?.count == 500)
            #expect(try await fixture.pause("a\0b").reason == "a\u{FFFD}b")
        },
        ConformanceCase("a waiting worker is woken by the end of a pause, in its process and in others") { fixture in
            try await fixture.open(.debounce(10))
            let other = try await fixture.another()
            try await fixture.pause()
            try await fixture.submit("a", wait: 0)
            for (ends, waits) in [(fixture, fixture), (other, fixture), (fixture, other)] {
                try await ends.pause()
                let mark = try await waits.answer().mark
                async let woken: Void = waits.wait(after: mark)
                await fixture.time.somebodySleeps()
                try await ends.resume()
                try await woken
                // What came between the claim and the wait is not missed either.
                try await ends.pause()
                let second = try await waits.answer().mark
                try await ends.resume()
                try await waits.wait(after: second)
            }
            #expect(try await fixture.work() == ["k trailing a"])
            await other.closeOther()
        },
        ConformanceCase("the end of a pause wakes a worker for which nothing is due") { fixture in
            try await fixture.open(.debounce(10))
            let other = try await fixture.another()
            for ends in [fixture, other] {
                try await ends.pause()
                let mark = try await fixture.answer().mark
                async let woken: Void = fixture.wait(after: mark)
                await fixture.time.somebodySleeps()
                try await ends.resume()
                try await woken
                #expect(try await fixture.answer().pause == nil)
            }
            await other.closeOther()
        },
        ConformanceCase("in a namespace that restarts runs, a pause changes neither interruptions nor their reports") {
            fixture in
            try await fixture.open(DurableRules(.debounce(wait: .milliseconds(10)), whileRunning: .restart))
            try await fixture.submit("a", wait: 0)
            let run = try await fixture.claimOne()
            try await fixture.pause()
            try await fixture.submit("b")
            fixture.pass(10)
            #expect(try await fixture.report(.heartbeat(lease: .milliseconds(100)), run) == .interrupted)
            #expect(try await fixture.report(.interrupted, run) == .accepted)
            #expect(try await fixture.claim() == [])
            try await fixture.resume()
            #expect(try await fixture.work() == ["k trailing b ×2"])
        },
    ]
}

extension StoreFixture {
    @discardableResult
    func pause(_ reason: String? = nil, for milliseconds: Int? = nil) async throws -> DurablePause {
        try await store.pause(
            StoreFixture.namespace, reason: reason, for: milliseconds.map { .milliseconds(Int64($0)) })
    }

    @discardableResult
    func resume() async throws -> Bool { try await store.resume(StoreFixture.namespace) }
}
