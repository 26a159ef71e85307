internal import LullCore
internal import LullDurable
internal import Testing

extension ConformanceCase {
    /// Limits of a namespace, over all keys and all workers.
    static let limiting: [ConformanceCase] = [
        ConformanceCase("no more runs start than a limit allows, of all keys and all workers together") { fixture in
            try await fixture.open(.limited(RateLimit(3, per: .milliseconds(100), burst: 2)))
            for key in ["a", "b", "c", "d"] { try await fixture.submit("1", key) }
            #expect(try await fixture.answer(by: 1, limit: 1).runs.count == 1)
            #expect(try await fixture.answer(by: 2).runs.count == 1)
            let blocked = try await fixture.answer(by: 3)
            // 100 ms / (3 - 2 + 1)
            #expect(blocked.runs == [] && blocked.next == .milliseconds(50))
            fixture.pass(49)
            #expect(try await fixture.answer(by: 3).runs == [])
            fixture.pass(1)
            #expect(try await fixture.answer(by: 3).runs.count == 1)
            fixture.pass(50)
            #expect(try await fixture.answer(by: 4).runs.count == 1)
        },
        ConformanceCase("after a pause a burst may start at once") { fixture in
            try await fixture.open(.limited(RateLimit(5, per: .milliseconds(100), burst: 5)))
            for key in ["a", "b", "c", "d", "e", "f"] { try await fixture.submit("1", key) }
            #expect(try await fixture.answer(by: 1).runs.count == 5)
            fixture.pass(1000)
            for key in ["g", "h", "i", "j", "k"] { try await fixture.submit("1", key) }
            #expect(try await fixture.answer(by: 2, limit: 10).runs.count == 5)
        },
        ConformanceCase("what a limit holds back is joined by later values") { fixture in
            try await fixture.open(.limited(RateLimit(1, per: .milliseconds(100)), .collect))
            try await fixture.submit("1", "a")
            try await fixture.submit("1", "b")
            let first = try await fixture.claimOne(by: 1, lease: 1000)
            fixture.pass(10)
            try await fixture.submit("2", first.key == Array("a".utf8) ? "b" : "a")
            fixture.pass(90)
            let run = try await fixture.claimOne(by: 2)
            #expect(run.text.hasSuffix("1+2 ×2"))
        },
        ConformanceCase("each attempt is a start, and a run that is handed out again is none") { fixture in
            try await fixture.open(.limited(RateLimit(1, per: .milliseconds(100))))
            try await fixture.submit("1", "a")
            let run = try await fixture.claimOne(by: 1, lease: 1000)
            let again = try await fixture.claimOne(by: 1, lease: 1000)
            #expect(again.id == run.id && again.attempt == 1)
            try await fixture.fail(again, retry: 0)
            #expect(try await fixture.answer(by: 1).runs == [])
            fixture.pass(100)
            #expect(try await fixture.claimOne(by: 1).attempt == 2)
        },
        ConformanceCase("a claim that finds nothing uses nothing of a limit") { fixture in
            try await fixture.open(.limited(RateLimit(1, per: .milliseconds(100))))
            for worker in 1...5 { #expect(try await fixture.answer(by: Int64(worker)).runs == []) }
            try await fixture.submit("1", "a")
            #expect(try await fixture.answer(by: 1).runs.count == 1)
        },
        ConformanceCase("a pause uses nothing of a limit, and no next start is announced in it") { fixture in
            try await fixture.open(.limited(RateLimit(2, per: .milliseconds(100), burst: 2)))
            for key in ["a", "b", "c"] { try await fixture.submit("1", key) }
            try await fixture.pause("why")
            for owner: Int64 in 1...3 {
                let answer = try await fixture.answer(by: owner)
                #expect(answer.runs == [] && answer.next == nil && answer.pause?.reason == "why")
            }
            try await fixture.resume()
            #expect(try await fixture.answer(by: 1).runs.count == 2)
            #expect(try await fixture.answer(by: 2).runs.count == 0)
        },
        ConformanceCase("workers have no more runs than maxRunning, however many there are") { fixture in
            try await fixture.open(.limited(maxRunning: 2))
            for key in ["a", "b", "c", "d"] { try await fixture.submit("1", key) }
            let first = try await fixture.answer(by: 1, limit: 1).runs
            #expect(first.count == 1)
            let second = try await fixture.answer(by: 2, limit: 5)
            #expect(second.runs.count == 1)
            let third = try await fixture.answer(by: 3)
            let wait = try #require(third.next)
            #expect(third.runs == [] && wait > .zero && wait <= .milliseconds(100))
            try await fixture.complete(first[0])
            #expect(try await fixture.answer(by: 3).runs.count == 1)
            try await fixture.fail(second.runs[0], by: 2, retry: 1000)
            #expect(try await fixture.answer(by: 4).runs.count == 1)
        },
        ConformanceCase("a lease that has ended counts until the run is taken over, which needs no other slot") {
            fixture in
            try await fixture.open(.limited(maxRunning: 1))
            try await fixture.submit("1", "a")
            let lost = try await fixture.claimOne(by: 1)
            for key in ["b", "c"] { try await fixture.submit("1", key) }
            fixture.pass(100)
            let runs = try await fixture.answer(by: 2).runs
            #expect(runs.map(\.id) == [lost.id] && runs.map(\.attempt) == [2])
            try await fixture.complete(runs[0], by: 2)
            #expect(try await fixture.answer(by: 2).runs.count == 1)
        },
        ConformanceCase("a run that dies with its lease leaves its slot to the next one") { fixture in
            try await fixture.open(.limited(maxRunning: 1))
            try await fixture.submit("1", "a")
            _ = try await fixture.claimOne(by: 1, maxAttempts: 1)
            try await fixture.submit("1", "b")
            fixture.pass(100)
            let answer = try await fixture.answer(by: 2, maxAttempts: 1)
            #expect(answer.dead.count == 1 && answer.runs.map(\.attempt) == [1])
        },
        ConformanceCase("limits are rules of the namespace, and may change") { fixture in
            let limit = RateLimit(3, per: .seconds(10), burst: 2)
            try await fixture.open(.limited(limit, maxRunning: 4))
            let found = try await fixture.open(nil)
            #expect(found.limit == limit && found.maxRunning == 4)
            try await fixture.change(.limited(RateLimit(1, per: .milliseconds(100)), maxRunning: 3))
            for key in ["a", "b"] { try await fixture.submit("1", key) }
            #expect(try await fixture.answer(by: 1).runs.count == 1)
            #expect(try await fixture.answer(by: 2).runs == [])
            try await fixture.change(.limited(maxRunning: 3))
            #expect(try await fixture.answer(by: 2).runs.count == 1)
            let status = try #require(try await fixture.store.status().first)
            #expect(status.rules.limit == nil && status.rules.maxRunning == 3)
        },
        ConformanceCase("a looser limit holds at once, whatever a stricter one has counted") { fixture in
            try await fixture.open(.limited(RateLimit(1, per: .seconds(3600))))
            for key in ["a", "b", "c"] { try await fixture.submit("1", key) }
            #expect(try await fixture.answer(by: 11, limit: 3, lease: 1 << 40).runs.count == 1)
            #expect(try await fixture.answer(by: 12, limit: 3, lease: 1 << 40).runs == [])
            try await fixture.change(.limited(RateLimit(3, per: .milliseconds(100), burst: 2)))
            // As if a burst had just started, of which one may be used again after 100 ms / (3 - 2 + 1).
            #expect(try await fixture.answer(by: 13, limit: 3, lease: 1 << 40).next == .milliseconds(50))
            #expect(try await fixture.store.status().first?.nextStart == .milliseconds(50))
            fixture.pass(49)
            #expect(try await fixture.answer(by: 14, limit: 3, lease: 1 << 40).runs == [])
            fixture.pass(1)
            #expect(try await fixture.answer(by: 15, limit: 3, lease: 1 << 40).runs.count == 1)
            fixture.pass(50)
            #expect(try await fixture.answer(by: 16, limit: 3, lease: 1 << 40).runs.count == 1)
        },
        ConformanceCase("a worker that waits for a limit is woken when it changes") { fixture in
            try await fixture.open(.limited(RateLimit(1, per: .seconds(3600))))
            for key in ["a", "b"] { try await fixture.submit("1", key) }
            #expect(try await fixture.answer(by: 17, limit: 2, lease: 1 << 40).runs.count == 1)
            let mark = try await fixture.answer(by: 99, limit: 2).mark
            async let woken: Void = fixture.wait(after: mark)
            await fixture.time.somebodySleeps()
            try await fixture.change(.limited())
            // A server says nothing: its workers ask every second.
            fixture.pass(1000)
            try await woken
            #expect(try await fixture.answer(by: 18, limit: 2, lease: 1 << 40).runs.count == 1)
        },
        ConformanceCase("a stricter limit counts what has started by a looser one") { fixture in
            try await fixture.open(.limited(RateLimit(2, per: .milliseconds(100), burst: 2)))
            for key in ["a", "b", "c"] { try await fixture.submit("1", key) }
            #expect(try await fixture.answer(by: 19, limit: 2, lease: 1 << 40).runs.count == 2)
            try await fixture.change(.limited(RateLimit(1, per: .milliseconds(1000))))
            fixture.pass(199)
            #expect(try await fixture.answer(by: 2).runs == [])
            fixture.pass(801)
            #expect(try await fixture.answer(by: 2).runs.count == 1)
        },
        ConformanceCase("claims in a pause use nothing of a limit, and the limit goes on after it") { fixture in
            try await fixture.open(.limited(RateLimit(4, per: .milliseconds(100), burst: 3)))
            for key in ["a", "b", "c", "d", "e"] { try await fixture.submit("1", key) }
            #expect(try await fixture.answer(by: 20, limit: 1, lease: 1 << 40).runs.count == 1)
            try await fixture.pause()
            for worker in 1...5 { #expect(try await fixture.answer(by: Int64(worker)).runs == []) }
            try await fixture.resume()
            #expect(try await fixture.answer(by: 21, limit: 5, lease: 1 << 40).runs.count == 2)
            #expect(try await fixture.answer(by: 22, limit: 5, lease: 1 << 40).runs == [])
        },
        ConformanceCase("a run that was lost is taken over only when the limit allows another start") { fixture in
            try await fixture.open(.limited(RateLimit(1, per: .milliseconds(100)), maxRunning: 1))
            try await fixture.submit("1", "a")
            let lost = try await fixture.claimOne(by: 1, lease: 50)
            fixture.pass(50)
            try await fixture.submit("1", "b")
            let blocked = try await fixture.answer(by: 23, limit: 5, lease: 1 << 40)
            #expect(blocked.runs == [] && blocked.next == .milliseconds(50))
            fixture.pass(50)
            let runs = try await fixture.answer(by: 24, limit: 5, lease: 1 << 40).runs
            #expect(runs.map(\.id) == [lost.id] && runs.map(\.attempt) == [2])
        },
        ConformanceCase("what a run has put back for a newer value is another start") { fixture in
            try await fixture.open(
                .limited(RateLimit(1, per: .milliseconds(100)), .collect, whileRunning: .restart))
            try await fixture.submit("1", "a")
            let run = try await fixture.claimOne(by: 1, lease: 1000)
            fixture.pass(10)
            try await fixture.submit("2", "a")
            #expect(try await fixture.report(.interrupted, run) == .accepted)
            #expect(try await fixture.answer(by: 1).runs == [])
            fixture.pass(90)
            #expect(try await fixture.claimOne(by: 1).count == 2)
        },
        ConformanceCase("a burst may be the whole of a limit, and a period as long as time") { fixture in
            try await fixture.open(.limited(RateLimit(2, per: .seconds(1), burst: 2)))
            for key in ["a", "b", "c", "d"] { try await fixture.submit("1", key) }
            #expect(try await fixture.answer(by: 25, limit: 5, lease: 1 << 40).runs.count == 2)
            fixture.pass(999)
            #expect(try await fixture.answer(by: 26, limit: 5, lease: 1 << 40).runs == [])
            fixture.pass(1)
            #expect(try await fixture.answer(by: 27, limit: 5, lease: 1 << 40).runs.count == 1)
            fixture.pass(10_000)
            try await fixture.change(.limited(RateLimit(starts: 2, period: .infinite, burst: 2)))
            let last = try await fixture.answer(by: 28, limit: 5, lease: 1 << 40)
            #expect(last.runs.count == 1)
            fixture.pass(1_000_000)
            try await fixture.submit("1", "e")
            #expect(try await fixture.answer(by: 29, limit: 5, lease: 1 << 40).runs == [])
        },
        ConformanceCase("a namespace that was forgotten keeps to the limit with which it is opened again") { fixture in
            try await fixture.open(.limited(RateLimit(1, per: .seconds(3600))))
            try await fixture.submit("1", "a")
            try await fixture.complete(try await fixture.claimOne(by: 1))
            try await fixture.store.forget("n")
            try await fixture.change(.limited(RateLimit(1, per: .milliseconds(100))))
            for key in ["a", "b"] { try await fixture.submit("1", key) }
            fixture.pass(100)
            #expect(try await fixture.answer(by: 30, limit: 2, lease: 1 << 40).runs.count == 1)
            fixture.pass(100)
            #expect(try await fixture.answer(by: 31, limit: 2, lease: 1 << 40).runs.count == 1)
        },
    ]
}

extension DurableRules {
    /// What is submitted is due at once.
    fileprivate static func limited(
        _ limit: RateLimit? = nil, _ combination: CombinationRule = .latest, maxRunning: Int? = nil,
        whileRunning: DurableOverlapPolicy = .queue
    ) throws -> DurableRules {
        try DurableRules(
            .debounce(wait: .zero), combination: combination, maxBatch: nil, limit: limit, maxRunning: maxRunning,
            whileRunning: whileRunning)
    }
}
