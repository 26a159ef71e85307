internal import LullCore
internal import LullDurable
internal import Testing

extension ConformanceCase {
    /// The counters of a namespace, which only grow.
    static let counters: [ConformanceCase] = [
        ConformanceCase("attempts and lost leases are counted for each namespace, forever") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.store.open("other", try .debounce(10))
            func counts() async throws -> [[Int]] {
                try await fixture.store.status().map { [$0.attempts, $0.lostLeases] }
            }
            for key in ["a", "b", "c"] { try await fixture.submit("1", key) }
            #expect(try await counts() == [[0, 0], [0, 0]])
            fixture.pass(10)
            let runs = try await fixture.claim(lease: 100, maxAttempts: 2)
            #expect(try await counts() == [[3, 0], [0, 0]])
            try await fixture.complete(runs[0])
            try await fixture.fail(runs[1], retry: 0)
            // An attempt after a failure, and one after a lost lease; then a lease is lost by a run that has had its
            // attempts.
            #expect(try await fixture.claim(by: 2, lease: 100, maxAttempts: 2).count == 1)
            #expect(try await counts() == [[4, 0], [0, 0]])
            fixture.pass(101)
            #expect(try await fixture.claim(by: 3, lease: 100, maxAttempts: 2).count == 1)
            #expect(try await counts() == [[5, 2], [0, 0]])
        },
        ConformanceCase("runs, the submits behind them and failed attempts are counted for each namespace, forever") {
            fixture in
            try await fixture.open(.debounce(10))
            try await fixture.store.open("other", try .debounce(10))
            func counts() async throws -> [[Int]] {
                try await fixture.store.status().map { [$0.attempts, $0.runs, $0.executed, $0.failures] }
            }
            for key in ["a", "b", "b", "c", "c", "c"] { try await fixture.submit("1", key) }
            fixture.pass(10)
            let runs = try await fixture.claim(lease: 100, maxAttempts: 3)
            #expect(try await counts() == [[3, 3, 6, 0], [0, 0, 0, 0]])
            // What is handed out again, given back or lost is no new run and no failure.
            #expect(try await fixture.claim(lease: 100).count == 3)
            #expect(try await counts()[0] == [3, 3, 6, 0])
            let again = try await fixture.claim(lease: 100)
            #expect(try await fixture.report(.released, again[0]) == .accepted)
            #expect(try await fixture.fail(again[1], retry: 20) == .accepted)
            #expect(try await fixture.fail(again[1], retry: 20) == .alreadyDone)
            #expect(try await fixture.fail(runs[2], retry: 20) == .leaseLost)
            #expect(try await counts()[0] == [3, 3, 6, 1])
            fixture.pass(101)
            let others = try await fixture.claim(by: 2, maxAttempts: 3)
            #expect(others.count == 3)
            #expect(try await counts()[0] == [6, 3, 6, 1])
            // A death is a failure, and a dead run that is retried is none of the new ones.
            for run in others { #expect(try await fixture.fail(run, by: 2, retry: nil) == .accepted) }
            #expect(try await counts()[0] == [6, 3, 6, 4])
            #expect(try await fixture.store.status().map(\.dead) == [3, 0])
            #expect(try await fixture.retry(others[0]) == .accepted)
            try await fixture.submit("2", "d")
            fixture.pass(10)
            #expect(try await fixture.work().count == 2)
            #expect(try await counts() == [[8, 4, 7, 4], [0, 0, 0, 0]])
            let fixture = try await fixture.reopened()
            #expect(try await fixture.store.status().map(\.executed) == [7, 0])
            await fixture.closeOther()
        },
        ConformanceCase(
            "the parts of a batch are runs, and what was interrupted is counted with the run that executes it"
        ) {
            fixture in
            try await fixture.open(.debounce(10, .trailing, .restart, .collect, maxBatch: 2))
            for value in ["1", "2", "3", "4", "5"] { try await fixture.submit(value) }
            fixture.pass(10)
            #expect(try await fixture.work().count == 3)
            #expect(try await fixture.store.status().map { [$0.runs, $0.executed] } == [[3, 5]])
            try await fixture.open(
                DurableRules(.debounce(wait: .milliseconds(10)), whileRunning: .restart), "restarting")
            try await fixture.submit("1", in: "restarting")
            fixture.pass(10)
            let run = try #require(try await fixture.claim(in: "restarting").first)
            try await fixture.submit("2", in: "restarting")
            fixture.pass(10)
            let failed = DurableReport.Kind.failed("no", retry: .zero)
            #expect(try await fixture.report(failed, run, in: "restarting") == .accepted)
            let second = try await fixture.claim(by: 2, in: "restarting")
            #expect(second.map(\.count) == [2])
            let status = try await fixture.store.status().filter { $0.namespace == "restarting" }
            #expect(status.map { [$0.runs, $0.executed, $0.failures, $0.restarted] } == [[2, 3, 0, 1]])
        },
    ]
}
