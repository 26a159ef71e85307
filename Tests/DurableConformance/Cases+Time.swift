internal import LullCore
internal import LullDurable
internal import Testing

extension ConformanceCase {
    /// Who waits is woken.
    static let waking = [
        ConformanceCase("a waiting worker is woken by a submit that is due earlier than it was told") { bench in
            try await bench.open(.debounce(10))
            try await bench.submit("a", wait: 5000)
            let answer = try await bench.answer()
            async let woken: Void = bench.wait(after: answer.mark)
            await bench.time.somebodySleeps()
            try await bench.submit("b", "other")
            try await woken
        },
        ConformanceCase("what came between a claim and the wait after it is not missed") { bench in
            try await bench.open(.debounce(10))
            let answer = try await bench.answer()
            try await bench.submit("a")
            try await bench.wait(after: answer.mark)
        },
        ConformanceCase("a waiting worker is woken by a run that is given back, a flush, and a retry of a dead run") {
            bench in
            try await bench.open(.debounce(10))
            try await bench.submit("a")
            bench.pass(10)
            let run = try await bench.claimOne(by: 1)
            let first = try await bench.answer(by: 2).mark
            async let released: Void = bench.wait(after: first)
            #expect(try await bench.report(.released, run, by: 1) == .accepted)
            try await released
            try await bench.fail(try await bench.claimOne(by: 1), by: 1, retry: 100_000)
            let second = try await bench.answer(by: 2).mark
            async let flushed: Void = bench.wait(after: second)
            #expect(try await bench.flush() == 1)
            try await flushed
            try await bench.fail(try await bench.claimOne(by: 1), by: 1, retry: nil)
            let third = try await bench.answer(by: 2).mark
            async let retried: Void = bench.wait(after: third)
            #expect(try await bench.retry(run) == .accepted)
            try await retried
        },
        ConformanceCase("nobody waits longer than asked for") { bench in
            try await bench.open(.debounce(10))
            let mark = try await bench.answer().mark
            async let waited: Void = bench.wait(after: mark, atMost: .seconds(5))
            await bench.time.somebodySleeps()
            bench.time.pass(.seconds(5))
            try await waited
            try await bench.wait(after: mark, atMost: .zero)
        },
        ConformanceCase("a wait ends with its task") { bench in
            try await bench.open(.debounce(10))
            let mark = try await bench.answer().mark
            let waiting = Task { try await bench.wait(after: mark) }
            await bench.time.somebodySleeps()
            waiting.cancel()
            _ = await waiting.result
        },
        ConformanceCase("a wait ends when the store is closed") { bench in
            let other = try await bench.another()
            try await other.open(.debounce(10))
            let mark = try await other.answer().mark
            let waiting = Task { try await other.wait(after: mark) }
            await bench.time.somebodySleeps()
            await other.store.close()
            _ = await waiting.result
        },
    ]

    /// What the clocks of a machine do.
    static let clocks = [
        ConformanceCase("setting the wall clock has no effect") { bench in
            try await bench.open(.debounce(10))
            for hours in [1, -2, 24 * 400, -24 * 800] {
                try await bench.submit("a")
                bench.pass(4)
                bench.time.setWall(by: .seconds(3600 * hours))
                bench.pass(5)
                #expect(try await bench.work() == [])
                bench.pass(1)
                #expect(try await bench.work() == ["k trailing a"])
            }
        },
        ConformanceCase("time goes on while the machine is off") { bench in
            try await bench.open(.debounce(100))
            try await bench.submit("a")
            bench.pass(40)
            bench.time.reboot(after: .milliseconds(30))
            let bench = try await bench.reopened()
            #expect(try await bench.work() == [])
            bench.pass(29)
            #expect(try await bench.work() == [])
            bench.pass(1)
            #expect(try await bench.work() == ["k trailing a"])
            await bench.closeOther()
        },
        ConformanceCase("a wall clock that goes back over a restart makes nothing wait longer than its wait again") {
            bench in
            try await bench.open(.debounce(100))
            try await bench.submit("a")
            bench.pass(40)
            // What was written last is the latest instant that a store knows for certain.
            try await bench.submit("later", "other", wait: 1000)
            bench.time.setWall(by: .seconds(-86_400))
            bench.time.reboot(after: .milliseconds(30))
            let bench = try await bench.reopened()
            // From the first look at the clocks on.
            #expect(try await bench.work() == [])
            bench.pass(59)
            #expect(try await bench.work() == [])
            bench.pass(1)
            #expect(try await bench.work() == ["k trailing a"])
            await bench.closeOther()
        },
        ConformanceCase("a wall clock that goes forward over a restart makes things due early by the jump") { bench in
            try await bench.open(.debounce(100))
            try await bench.submit("a")
            bench.pass(40)
            bench.time.setWall(by: .milliseconds(20))
            bench.time.reboot(after: .milliseconds(30))
            let bench = try await bench.reopened()
            bench.pass(9)
            #expect(try await bench.work() == [])
            bench.pass(1)
            #expect(try await bench.work() == ["k trailing a"])
            await bench.closeOther()
        },
        ConformanceCase("a boot clock that goes back is a restart") { bench in
            try await bench.open(.debounce(100))
            try await bench.submit("a")
            bench.pass(40)
            try await bench.submit("later", "other", wait: 1000)
            bench.time.restore(from: .seconds(60))
            #expect(try await bench.work() == [])
            bench.pass(59)
            #expect(try await bench.work() == [])
            bench.pass(1)
            #expect(try await bench.work() == ["k trailing a"])
        },
        ConformanceCase("time never runs back, whatever the clocks do") { bench in
            try await bench.open(.debounce(0))
            var bench = bench
            var last: Int64 = 0
            let mishaps: [@Sendable (ManualTime) -> Void] = [
                { $0.setWall(by: .seconds(-500)) }, { $0.reboot(after: .zero) }, { $0.restore(from: .seconds(1)) },
                { $0.setWall(by: .seconds(900)) }, { $0.reboot(after: .seconds(2)) }, { _ in },
            ]
            for mishap in mishaps + mishaps.reversed() + mishaps {
                mishap(bench.time)
                bench = try await bench.reopened()
                let first = try #require(try await bench.submit("a").due)
                bench.pass(1)
                let second = try #require(try await bench.submit("b").due)
                #expect(first >= last && second >= first + 1_000_000)
                last = second
                _ = try await bench.work()
            }
            await bench.closeOther()
        },
        ConformanceCase("a lease goes on over a restart") { bench in
            try await bench.open(.debounce(0))
            try await bench.submit("a")
            let run = try await bench.claimOne(by: 1, lease: 100)
            bench.time.reboot(after: .milliseconds(50))
            let bench = try await bench.reopened()
            bench.pass(49)
            #expect(try await bench.claim(by: 2) == [])
            bench.pass(1)
            #expect(try await bench.claimOne(by: 2).id == run.id)
            await bench.closeOther()
        },
    ]
}

extension Bench {
    func wait(after mark: Int64, atMost time: Duration = .seconds(1_000_000)) async throws {
        try await store.wait(in: Bench.namespace, after: mark, atMost: time)
    }
}
