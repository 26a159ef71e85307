internal import LullDurable
internal import Testing

extension ConformanceCase {
    /// What users of other programs have reported, and does not happen in a store: docs/faults.md has the reports.
    static let knownFaults: [ConformanceCase] = [
        ConformanceCase("a submit with a long delay while its key runs is a run of its own, after that delay") {
            fixture in
            try await fixture.open(.debounce(1000))
            try await fixture.submit("now", wait: 0)
            let run = try await fixture.claimOne()
            try await fixture.submit("later", wait: 18_000_000)
            fixture.pass(50)
            #expect(run.text == "k trailing now")
            #expect(try await fixture.complete(run) == .accepted)
            fixture.pass(17_999_949)
            #expect(try await fixture.work() == [])
            fixture.pass(1)
            #expect(try await fixture.work() == ["k trailing later"])
        },
        ConformanceCase("what was pending under a worker that is gone runs once, at its instant, by the next one") {
            fixture in
            try await fixture.open(.debounce(5000))
            try await fixture.submit("on", "light")
            fixture.pass(2000)
            try await fixture.announce(1, "gone", 1)
            #expect(try await fixture.claim(by: 1) == [])
            // It is killed: it says nothing more, and gives nothing back.
            fixture.pass(2000)
            let next = try await fixture.another()
            try await next.announce(2, "here", 2)
            #expect(try await next.claim(by: 2) == [])
            next.pass(999)
            #expect(try await next.claim(by: 2) == [])
            next.pass(1)
            let run = try await next.claimOne(by: 2)
            #expect(run.text == "light trailing on")
            #expect(run.first.duration(to: run.due) == .milliseconds(5000))
            #expect(try await next.complete(run, by: 2) == .accepted)
            next.pass(10_000)
            #expect(try await next.claim(by: 2) == [])
            #expect(try await next.store.status().map(\.runs) == [1])
            await next.closeOther()
        },
        ConformanceCase("a delay of 289 years is listed and waits, and a later submit replaces it") {
            fixture in
            try await fixture.open(.debounce(10))
            let (hour, years) = (3_600_000, 2_540_000 * 3_600_000)
            #expect(try await fixture.submit("far", wait: years).dueIn == .milliseconds(years))
            fixture.pass(hour)
            #expect(try await fixture.work() == [])
            #expect(try await fixture.list().map(\.dueIn) == [.milliseconds(years - hour)])
            #expect(try await fixture.upcoming().map(\.pending) == [1])
            try await fixture.submit("near")
            #expect(try await fixture.list().map(\.dueIn) == [.milliseconds(10)])
            fixture.pass(10)
            #expect(try await fixture.work() == ["k trailing near ×2"])
            #expect(try await fixture.list() == [])
        },
        ConformanceCase("keys that floating-point numbers do not tell apart are two keys") { fixture in
            try await fixture.open(.debounce(10))
            let keys = ["9007199254740992", "9007199254740993"]
            for key in keys { try await fixture.submit(key, key) }
            #expect(try await fixture.list().map(\.key) == keys.map { Array($0.utf8) })
            fixture.pass(10)
            #expect(try await fixture.work().sorted() == keys.map { "\($0) trailing \($0)" })
        },
    ]
}
