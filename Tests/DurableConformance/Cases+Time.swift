internal import LullCore
internal import LullDurable
internal import Testing

extension ConformanceCase {
    /// Waiting workers are woken.
    static let waking: [ConformanceCase] = [
        ConformanceCase("a waiting worker is woken by a submit that is due earlier than was announced") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("a", wait: 5000)
            let answer = try await fixture.answer()
            async let woken: Void = fixture.wait(after: answer.mark)
            await fixture.time.somebodySleeps()
            try await fixture.submit("b", "other")
            try await woken
        },
        ConformanceCase("what came between a claim and the wait after it is not missed") { fixture in
            try await fixture.open(.debounce(10))
            let answer = try await fixture.answer()
            try await fixture.submit("a")
            try await fixture.wait(after: answer.mark)
        },
        ConformanceCase("a waiting worker is woken by a run that is given back, a flush, and a retry of a dead run") {
            fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne(by: 1)
            let first = try await fixture.answer(by: 2).mark
            async let released: Void = fixture.wait(after: first)
            #expect(try await fixture.report(.released, run, by: 1) == .accepted)
            try await released
            try await fixture.fail(try await fixture.claimOne(by: 1), by: 1, retry: 100_000)
            let second = try await fixture.answer(by: 2).mark
            async let flushed: Void = fixture.wait(after: second)
            #expect(try await fixture.flush() == 1)
            try await flushed
            try await fixture.fail(try await fixture.claimOne(by: 1), by: 1, retry: nil)
            let third = try await fixture.answer(by: 2).mark
            async let retried: Void = fixture.wait(after: third)
            #expect(try await fixture.retry(run) == .accepted)
            try await retried
        },
        ConformanceCase("nobody waits longer than asked for") { fixture in
            try await fixture.open(.debounce(10))
            let mark = try await fixture.answer().mark
            async let waited: Void = fixture.wait(after: mark, atMost: .seconds(5))
            await fixture.time.somebodySleeps()
            fixture.time.pass(.seconds(5))
            try await waited
            try await fixture.wait(after: mark, atMost: .zero)
        },
        ConformanceCase("a wait ends with its task") { fixture in
            try await fixture.open(.debounce(10))
            let mark = try await fixture.answer().mark
            let waiting = Task { try await fixture.wait(after: mark) }
            await fixture.time.somebodySleeps()
            waiting.cancel()
            _ = await waiting.result
        },
        ConformanceCase("a wait ends when the store is closed") { fixture in
            let other = try await fixture.another()
            try await other.open(.debounce(10))
            let mark = try await other.answer().mark
            let waiting = Task { try await other.wait(after: mark) }
            await fixture.time.somebodySleeps()
            await other.store.close()
            _ = await waiting.result
        },
    ]

    /// The clocks of a machine.
    static let clocks: [ConformanceCase] = [
        ConformanceCase("setting the wall clock has no effect") { fixture in
            try await fixture.open(.debounce(10))
            for hours in [1, -2, 24 * 400, -24 * 800] {
                try await fixture.submit("a")
                fixture.pass(4)
                fixture.time.setWall(by: .seconds(3600 * hours))
                fixture.pass(5)
                #expect(try await fixture.work() == [])
                fixture.pass(1)
                #expect(try await fixture.work() == ["k trailing a"])
            }
        },
        ConformanceCase("time goes on while the machine is off") { fixture in
            try await fixture.open(.debounce(100))
            try await fixture.submit("a")
            fixture.pass(40)
            fixture.time.reboot(after: .milliseconds(30))
            let fixture = try await fixture.reopened()
            #expect(try await fixture.work() == [])
            fixture.pass(29)
            #expect(try await fixture.work() == [])
            fixture.pass(1)
            #expect(try await fixture.work() == ["k trailing a"])
            await fixture.closeOther()
        },
        ConformanceCase("a wall clock that goes back over a restart makes nothing wait longer than its wait again") {
            fixture in
            try await fixture.open(.debounce(100))
            try await fixture.submit("a")
            fixture.pass(40)
            // The last write has the latest instant that a store knows for certain.
            try await fixture.submit("later", "other", wait: 1000)
            fixture.time.setWall(by: .seconds(-86_400))
            fixture.time.reboot(after: .milliseconds(30))
            let fixture = try await fixture.reopened()
            // From the first look at the clocks on.
            #expect(try await fixture.work() == [])
            fixture.pass(59)
            #expect(try await fixture.work() == [])
            fixture.pass(1)
            #expect(try await fixture.work() == ["k trailing a"])
            await fixture.closeOther()
        },
        ConformanceCase("a wall clock that goes forward over a restart makes things due early by the jump") { fixture in
            try await fixture.open(.debounce(100))
            try await fixture.submit("a")
            fixture.pass(40)
            fixture.time.setWall(by: .milliseconds(20))
            fixture.time.reboot(after: .milliseconds(30))
            let fixture = try await fixture.reopened()
            fixture.pass(9)
            #expect(try await fixture.work() == [])
            fixture.pass(1)
            #expect(try await fixture.work() == ["k trailing a"])
            await fixture.closeOther()
        },
        ConformanceCase("a boot clock that goes back is a restart") { fixture in
            try await fixture.open(.debounce(100))
            try await fixture.submit("a")
            fixture.pass(40)
            try await fixture.submit("later", "other", wait: 1000)
            fixture.time.restore(from: .seconds(60))
            #expect(try await fixture.work() == [])
            fixture.pass(59)
            #expect(try await fixture.work() == [])
            fixture.pass(1)
            #expect(try await fixture.work() == ["k trailing a"])
        },
        ConformanceCase("time never runs back, whatever the clocks do") { fixture in
            try await fixture.open(.debounce(0))
            var fixture = fixture
            var last: Int64 = 0
            let mishaps: [@Sendable (ManualTime) -> Void] = [
                { $0.setWall(by: .seconds(-500)) }, { $0.reboot(after: .zero) }, { $0.restore(from: .seconds(1)) },
                { $0.setWall(by: .seconds(900)) }, { $0.reboot(after: .seconds(2)) }, { _ in },
            ]
            for mishap in mishaps + mishaps.reversed() + mishaps {
                mishap(fixture.time)
                fixture = try await fixture.reopened()
                let first = try #require(try await fixture.submit("a").due)
                fixture.pass(1)
                let second = try #require(try await fixture.submit("b").due)
                #expect(first >= last && second >= first + 1_000_000)
                last = second
                _ = try await fixture.work()
            }
            await fixture.closeOther()
        },
        ConformanceCase("a delay of 289 years is listed and waits as long as it is") { fixture in
            try await fixture.open(.debounce(10))
            let years = 2_540_000 * 3_600_000
            #expect(try await fixture.submit("far", wait: years).dueIn == .milliseconds(years))
            #expect(try await fixture.list().map(\.dueIn) == [.milliseconds(years)])
            fixture.pass(years - 1)
            #expect(try await fixture.work() == [])
            fixture.pass(1)
            #expect(try await fixture.work() == ["k trailing far"])
        },
        ConformanceCase("a lease goes on over a restart") { fixture in
            try await fixture.open(.debounce(0))
            try await fixture.submit("a")
            let run = try await fixture.claimOne(by: 1, lease: 100)
            fixture.time.reboot(after: .milliseconds(50))
            let fixture = try await fixture.reopened()
            fixture.pass(49)
            #expect(try await fixture.claim(by: 2) == [])
            fixture.pass(1)
            #expect(try await fixture.claimOne(by: 2).id == run.id)
            await fixture.closeOther()
        },
    ]
}

extension StoreFixture {
    func wait(after mark: Int64, atMost time: Duration = .seconds(1_000_000)) async throws {
        try await store.wait(in: StoreFixture.namespace, after: mark, atMost: time)
    }
}
