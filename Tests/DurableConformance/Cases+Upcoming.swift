internal import LullCore
internal import LullDurable
internal import Testing

extension ConformanceCase {
    /// The keys that change next, and who has their runs.
    static let upcoming: [ConformanceCase] = [
        ConformanceCase("the keys that change next come first: what waits for a worker, and then by when") { fixture in
            try await fixture.open(.debounce(10))
            for key in ["running", "retrying"] { try await fixture.submit("1", key, wait: 0) }
            for run in try await fixture.claim(by: 7, lease: 80) where run.key == Array("retrying".utf8) {
                try await fixture.fail(run, by: 7, retry: 30)
            }
            try await fixture.submit("1", "late", wait: 500)
            try await fixture.submit("1", "soon", wait: 50)
            try await fixture.submit("1", "ready", wait: 0)
            fixture.pass(5)
            let keys = try await fixture.upcoming()
            #expect(keys.map(\.name) == ["ready", "retrying", "soon", "running", "late"])
            #expect(keys.map(\.dueIn) == [nil, nil, .milliseconds(45), nil, .milliseconds(495)])
            #expect(keys.map { $0.run?.retryIn } == [nil, .milliseconds(25), nil, nil, nil])
            #expect(keys.map { $0.run?.leaseFor } == [nil, nil, nil, .milliseconds(75), nil])
            #expect(keys.map { $0.run?.runningFor } == [nil, nil, nil, .milliseconds(5), nil])
            #expect(keys.map(\.ready) == [1, 0, 0, 0, 0])
            #expect(keys.map(\.readyFor) == [.milliseconds(5), nil, nil, nil, nil])
            #expect(keys.map(\.pendingFor) == [nil, nil, .milliseconds(5), nil, .milliseconds(5)])
            for limit in 0...5 { #expect(try await fixture.upcoming(limit: limit) == Array(keys.prefix(limit))) }
            #expect(try await Set(fixture.list()) == Set(keys))
        },
        ConformanceCase("a value that waits behind a run changes when the run does") { fixture in
            try await fixture.open(.debounce(10, .collect))
            try await fixture.submit("1", "busy", wait: 0)
            _ = try await fixture.claimOne(lease: 100)
            try await fixture.submit("2", "busy", wait: 0)
            try await fixture.submit("1", "later", wait: 200)
            try await fixture.submit("1", "sooner", wait: 50)
            let keys = try await fixture.upcoming()
            #expect(keys.map(\.name) == ["sooner", "busy", "later"])
            #expect(keys[1].ready == 1 && keys[1].run?.leaseFor == .milliseconds(100))
            fixture.pass(101)
            // Nobody has extended the lease.
            let later = try await fixture.upcoming()
            #expect(Set(later.prefix(2).map(\.name)) == ["busy", "sooner"] && later.last?.name == "later")
            #expect(later.first { $0.name == "busy" }?.run?.leaseFor == .zero)
        },
        ConformanceCase("a key that a submit has moved later is found early, and listed by when it is due") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("1", "moved", wait: 20)
            try await fixture.submit("1", "other", wait: 50)
            fixture.pass(5)
            try await fixture.submit("2", "moved", wait: 100)
            #expect(try await fixture.upcoming().map(\.name) == ["other", "moved"])
            #expect(try await fixture.upcoming(limit: 1).map(\.name) == ["moved"])
        },
        ConformanceCase("keys with nothing but an open gate are left out, and looked at up to four times the limit") {
            fixture in
            try await fixture.open(.throttle(50))
            for key in ["a", "b", "c", "d", "e"] { try await fixture.submit("1", key) }
            _ = try await fixture.work()
            #expect(try await fixture.list().count == 5)
            #expect(try await fixture.upcoming() == [])
            fixture.pass(10)
            try await fixture.submit("1", "work")
            _ = try await fixture.work()
            try await fixture.submit("2", "work")
            #expect(try await fixture.upcoming().map(\.dueIn) == [.milliseconds(50)])
            #expect(try await fixture.upcoming(limit: 2).map(\.name) == ["work"])
            #expect(try await fixture.upcoming(limit: 1) == [])
        },
        ConformanceCase("a listed run says which worker has it, and for how long its lease runs") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("1")
            fixture.pass(10)
            for worker in [Int64.min, 8] {
                let run = try #require(try await fixture.claim(by: worker, lease: 40).first)
                fixture.pass(15)
                #expect(try await fixture.listedRun().worker == worker)
                #expect(try await fixture.listedRun().leaseFor == .milliseconds(25))
                _ = try await fixture.report(.heartbeat(lease: .milliseconds(60)), run, by: worker)
                #expect(try await fixture.listedRun().leaseFor == .milliseconds(60))
                #expect(try await fixture.listedRun().runningFor == .milliseconds(15))
                fixture.pass(70)
                #expect(try await fixture.listedRun().leaseFor == .zero)
            }
            let run = try #require(try await fixture.claim(by: 9, lease: 40).first)
            try await fixture.fail(run, by: 9, retry: 30)
            let listed = try await fixture.listedRun()
            #expect(listed.worker == nil && listed.leaseFor == nil && listed.retryIn == .milliseconds(30))
            #expect(listed.runningFor == nil)
            #expect(!listed.isClaimed && listed.attempt == 3)
        },
        ConformanceCase("a listed key says when the first of its submits came, and when they fell due") { fixture in
            try await fixture.open(.debounce(10))
            for value in 1...3 {
                try await fixture.submit("\(value)")
                fixture.pass(4)
            }
            #expect(try await fixture.upcoming().first?.pendingFor == .milliseconds(12))
            fixture.pass(16)
            let ready = try #require(try await fixture.upcoming().first)
            #expect(ready.pendingFor == nil && ready.ready == 3 && ready.readyFor == .milliseconds(10))
            try await fixture.submit("4")
            fixture.pass(5)
            let both = try #require(try await fixture.list().first)
            #expect(both.pendingFor == .milliseconds(5) && both.readyFor == .milliseconds(15))
        },
        ConformanceCase("many keys that wake at one instant are each listed once") { fixture in
            try await fixture.open(.debounce(1000))
            for number in 0..<300 { try await fixture.submit("1", "key \(number)") }
            let all = try await fixture.upcoming(limit: 1000)
            #expect(Set(all.map(\.key)).count == 300 && all.count == 300)
            #expect(try await fixture.upcoming(limit: 170).count == 170)
        },
        ConformanceCase("what comes next in an unknown namespace is an error") { fixture in
            await #expect(throws: DurableError.noPolicy(namespace: "n")) { try await fixture.upcoming() }
        },
    ]
}

extension StoreFixture {
    func upcoming(limit: Int = 100) async throws -> [DurableListing<[UInt8]>] {
        try await store.upcoming(in: StoreFixture.namespace, limit: limit)
    }

    /// Returns the run of the only key, the same in both lists.
    fileprivate func listedRun() async throws -> DurableListedRun {
        let run = try #require(try await list().first?.run)
        #expect(try await upcoming().map(\.run) == [run])
        return run
    }
}

extension DurableListing<[UInt8]> {
    fileprivate var name: String { String(decoding: key, as: UTF8.self) }
}
