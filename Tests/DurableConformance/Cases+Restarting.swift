internal import LullCore
internal import LullDurable
internal import TestSupport
internal import Testing

extension ConformanceCase {
    /// Runs that newer values interrupt.
    static let restarting: [ConformanceCase] = [
        ConformanceCase("the rule for running runs is kept, and another one is refused") { fixture in
            let rules = try DurableRules.restarting(10, .whenSubmitted)
            try await fixture.open(rules)
            let others = [try DurableRules.restarting(10, .whenDue), try .debounce(10, .collect)]
            for other in others {
                await #expect(throws: DurableError.otherPolicy(namespace: "n", stored: rules, given: other)) {
                    try await fixture.open(other)
                }
            }
            let reopened = try await fixture.reopened()
            #expect(try await reopened.open(nil) == rules)
            await reopened.closeOther()
        },
        ConformanceCase("a value that falls due interrupts the run, and they start again as one run") { fixture in
            try await fixture.open(.restarting(10, .whenDue))
            let first = try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne()
            let second = try await fixture.submit("b")
            #expect(try await fixture.interruptions() == [])
            #expect(try await fixture.report(.heartbeat(lease: .milliseconds(100)), run) == .accepted)
            fixture.pass(10)
            #expect(try await fixture.interruptions() == [run.number])
            #expect(try await fixture.interruptions(besides: [run.number]) == [])
            #expect(try await fixture.interruptions(by: 2) == [])
            #expect(try await fixture.state(first) == .running(attempt: 1))
            #expect(try await fixture.report(.heartbeat(lease: .milliseconds(100)), run) == .interrupted)
            #expect(try await fixture.claim(by: 2) == [])
            #expect(try await fixture.report(.interrupted, run) == .accepted)
            #expect(try await fixture.state(first) == .ready)
            let again = try await fixture.claimOne(by: 2)
            #expect(again.text == "k trailing a+b ×2" && again.attempt == 1 && again.number > run.number)
            #expect(fixture.covers(again.submits, first.generation...second.generation))
            #expect(again.first == run.first)
            #expect(try await fixture.report(.interrupted, run) == .leaseLost)
            #expect(try await fixture.complete(again, by: 2) == .accepted)
            #expect(try await fixture.state(first) == .executed)
            #expect(try await fixture.store.status().map(\.restarted) == [1])
        },
        ConformanceCase("a submit interrupts the run at once, and its values are held until the newer one is due") {
            fixture in
            try await fixture.open(.restarting(10, .whenSubmitted))
            let first = try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne()
            try await fixture.submit("b")
            #expect(try await fixture.interruptions() == [run.number])
            #expect(try await fixture.report(.interrupted, run) == .accepted)
            #expect(try await fixture.state(first) == .pending)
            let status = try await fixture.store.status()
            #expect(status.map { [$0.pending, $0.ready, $0.running, $0.retrying] } == [[1, 0, 0, 0]])
            #expect(status.first?.oldestDue == nil)
            let listed = try await fixture.store.list(in: StoreFixture.namespace, prefix: [], limit: 10)
            #expect(listed.map { [$0.pending, $0.ready] } == [[2, 0]])
            #expect(try await fixture.answer().next == .milliseconds(10))
            fixture.pass(10)
            #expect(try await fixture.work() == ["k trailing a+b ×2"])
        },
        ConformanceCase("a held value alone has no due instant; it starts with a flush, or is cancelled") { fixture in
            try await fixture.open(.restarting(10, .whenSubmitted, .latest))
            for key in ["flushed", "cancelled"] {
                try await fixture.submit("a", key)
                fixture.pass(10)
                let run = try await fixture.claimOne()
                try await fixture.submit("b", key, wait: 1000, by: 7)
                #expect(try await fixture.report(.interrupted, run) == .accepted)
                #expect(try await fixture.store.cancel(submittedBy: 7, in: StoreFixture.namespace) == (1, 0))
            }
            fixture.pass(100_000)
            #expect(try await fixture.work() == [])
            #expect(try await fixture.answer().next.map { $0 > .seconds(3600) } ?? true)
            #expect(try await fixture.flush("flushed") == 1)
            #expect(try await fixture.flush("flushed") == 0)
            #expect(try await fixture.cancel("cancelled") == 1)
            #expect(try await fixture.work() == ["flushed flush a"])
            #expect(try await fixture.store.list(in: StoreFixture.namespace, prefix: [], limit: 10) == [])
        },
        ConformanceCase("an interruption that crosses a completion changes nothing: the run is completed") { fixture in
            try await fixture.open(.restarting(10, .whenDue))
            let first = try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne()
            try await fixture.submit("b")
            fixture.pass(10)
            #expect(try await fixture.report(.heartbeat(lease: .milliseconds(100)), run) == .interrupted)
            #expect(try await fixture.complete(run) == .accepted)
            #expect(try await fixture.state(first) == .executed)
            #expect(try await fixture.work() == ["k trailing b"])
            #expect(try await fixture.store.status().map(\.restarted) == [0])
        },
        ConformanceCase("the late heartbeat of an interrupted run keeps its lease, and learns of the interruption") {
            fixture in
            try await fixture.open(.restarting(10, .whenDue))
            try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne(lease: 20)
            try await fixture.submit("b")
            fixture.pass(50)
            #expect(try await fixture.report(.heartbeat(lease: .milliseconds(100)), run) == .interrupted)
            #expect(try await fixture.claim(by: 2) == [])
            #expect(try await fixture.report(.interrupted, run) == .accepted)
            #expect(try await fixture.work() == ["k trailing a+b ×2"])
        },
        ConformanceCase("the values of an interrupted run whose worker has died go back, whatever its attempt") {
            fixture in
            try await fixture.open(.restarting(10, .whenDue))
            try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne(lease: 20, maxAttempts: 1)
            try await fixture.submit("b")
            fixture.pass(30)
            let answer = try await fixture.answer(by: 2, maxAttempts: 1)
            #expect(answer.runs.map(\.text) == ["k trailing a+b ×2"] && answer.dead == [])
            #expect(answer.runs.map(\.attempt) == [1])
            #expect(try await fixture.report(.heartbeat(lease: .milliseconds(100)), run) == .leaseLost)
            #expect(try await fixture.complete(run) == .leaseLost)
            let status = try await fixture.store.status()
            #expect(status.map { [$0.lostLeases, $0.restarted, $0.dead] } == [[1, 1, 0]])
        },
        ConformanceCase("with nothing newer due, what a dead worker had is held") { fixture in
            try await fixture.open(.restarting(10, .whenSubmitted))
            try await fixture.submit("a")
            fixture.pass(10)
            _ = try await fixture.claimOne(lease: 20)
            try await fixture.submit("b", wait: 100)
            fixture.pass(30)
            #expect(try await fixture.claim(by: 2) == [])
            #expect(try await fixture.answer(by: 2).next == .milliseconds(70))
            fixture.pass(70)
            #expect(try await fixture.work() == ["k trailing a+b ×2"])
        },
        ConformanceCase("an interrupted run that fails or is released goes back, without a pause") { fixture in
            try await fixture.open(.restarting(10, .whenDue, .first))
            for (key, kind) in [
                ("fails", DurableReport.Kind.failed("no", retry: .milliseconds(1000))),
                ("dies", .failed("no", retry: nil)),
                ("stops", .released),
            ] {
                try await fixture.submit("a", key)
                fixture.pass(10)
                let run = try await fixture.claimOne()
                try await fixture.submit("b", key)
                fixture.pass(10)
                #expect(try await fixture.report(kind, run) == .accepted)
                #expect(try await fixture.work() == ["\(key) trailing a ×2"])
            }
        },
        ConformanceCase("a run whose oldest submit is as old as the longest wait is not interrupted") { fixture in
            try await fixture.open(.restarting(10, maxWait: 50, .whenSubmitted))
            try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne(lease: 1000)
            fixture.pass(39)
            try await fixture.submit("b", "other")
            fixture.pass(1)
            try await fixture.submit("c")
            fixture.pass(10)
            #expect(try await fixture.interruptions() == [])
            #expect(try await fixture.report(.heartbeat(lease: .milliseconds(1000)), run) == .accepted)
            #expect(try await fixture.complete(run) == .accepted)
            #expect(try await fixture.work() == ["other trailing b", "k trailing c"])
        },
        ConformanceCase("a run between two attempts goes back when something newer is due or submitted") { fixture in
            for (namespace, interrupting) in [
                ("due", Interruption.whenDue), ("submitted", .whenSubmitted),
            ] {
                try await fixture.open(.restarting(10, interrupting, .latest), namespace)
                let first = try await fixture.submit("a", in: namespace)
                fixture.pass(10)
                let run = try #require(try await fixture.claim(in: namespace).first)
                let failure = DurableReport.Kind.failed("no", retry: .milliseconds(1000))
                #expect(try await fixture.report(failure, run, in: namespace) == .accepted)
                try await fixture.submit("b", in: namespace)
                let isHeld = try await fixture.state(first) == .pending
                #expect(isHeld == (interrupting == .whenSubmitted))
                fixture.pass(10)
                let again = try await fixture.claim(in: namespace)
                #expect(again.map(\.text) == ["k trailing b ×2"] && again.map(\.attempt) == [1])
                let status = try await fixture.store.status().first { $0.namespace == namespace }
                #expect(status?.restarted == 1)
            }
        },
        ConformanceCase("a part of a batch goes back in front of the rest") { fixture in
            try await fixture.open(.restarting(10, .whenDue, maxBatch: 2))
            for value in ["a", "b", "c"] { try await fixture.submit(value) }
            fixture.pass(10)
            let part = try await fixture.claimOne()
            fixture.pass(10)
            #expect(part.text == "k trailing a+b ×2")
            #expect(try await fixture.interruptions() == [])
            try await fixture.submit("d")
            fixture.pass(10)
            #expect(try await fixture.interruptions() == [part.number])
            #expect(try await fixture.report(.interrupted, part) == .accepted)
            #expect(try await fixture.work() == ["k trailing a+b ×2", "k trailing c+d ×2"])
        },
        ConformanceCase("what goes back can go back again, and a flush interrupts, too") { fixture in
            try await fixture.open(.restarting(10, .whenDue))
            try await fixture.submit("a")
            fixture.pass(10)
            var run = try await fixture.claimOne()
            for value in ["b", "c", "d"] {
                try await fixture.submit(value)
                #expect(try await fixture.flush() == 1)
                #expect(try await fixture.interruptions() == [run.number])
                #expect(try await fixture.report(.interrupted, run) == .accepted)
                run = try await fixture.claimOne()
            }
            #expect(run.text == "k flush a+b+c+d ×4")
            #expect(try await fixture.complete(run) == .accepted)
            #expect(try await fixture.store.status().map(\.restarted) == [3])
        },
        ConformanceCase("a dead run that is retried is not interrupted") { fixture in
            try await fixture.open(.restarting(10, .whenSubmitted))
            try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne()
            try await fixture.fail(run, retry: nil)
            #expect(try await fixture.store.retry(run.number, in: StoreFixture.namespace) == .accepted)
            let again = try await fixture.claimOne()
            try await fixture.submit("b")
            fixture.pass(10)
            #expect(try await fixture.interruptions() == [])
            #expect(try await fixture.report(.interrupted, again) == .accepted)
            #expect(try await fixture.work() == ["k trailing a", "k trailing b"])
        },
        ConformanceCase("a run behind which submits were cancelled goes on alone") { fixture in
            try await fixture.open(.restarting(10, .whenSubmitted))
            try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne()
            let dropped = try await fixture.submit("b")
            #expect(try await fixture.cancel() == 1)
            #expect(try await fixture.report(.interrupted, run) == .accepted)
            let again = try await fixture.claimOne()
            try await fixture.submit("c")
            #expect(again.id == run.id && again.text == "k trailing a")
            #expect(try await fixture.interruptions() == [])
            #expect(try await fixture.complete(again) == .accepted)
            #expect(try await fixture.state(dropped) == .cancelled)
            fixture.pass(10)
            #expect(try await fixture.work() == ["k trailing c"])
        },
    ]

    /// For stores whose instances notice each other's writes while workers wait.
    package static let interruptionHints: [ConformanceCase] = [
        ConformanceCase("a worker that waits for an interruption is told of it at once") {
            fixture in
            try await fixture.open(.restarting(10, .whenSubmitted))
            try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne(lease: 60_000)
            async let found = fixture.interruptions(atMost: 600_000)
            await letOthersRun()
            let other = try await fixture.another()
            try await other.submit("b")
            #expect(try await found == [run.number])
            if fixture.maker.isShared { await other.closeOther() }
        }
    ]

    /// Touches.
    static let touching: [ConformanceCase] = [
        ConformanceCase("a touch moves the due instant of what is pending, and changes nothing else") { fixture in
            try await fixture.open(.debounce(10, maxWait: 30))
            #expect(try await fixture.touch() == false)
            let receipt = try await fixture.submit("a")
            fixture.pass(5)
            #expect(try await fixture.touch())
            fixture.pass(9)
            #expect(try await fixture.state(receipt) == .pending)
            #expect(try await fixture.answer().next == .milliseconds(1))
            #expect(try await fixture.touch(wait: 100))
            fixture.pass(16)
            #expect(try await fixture.work() == ["k maxWait a"])
            #expect(try await fixture.touch() == false)
            #expect(try await fixture.store.list(in: StoreFixture.namespace, prefix: [], limit: 10) == [])
        },
        ConformanceCase("a touch may bring the due instant forward, and with extend it does not") { fixture in
            try await fixture.open(.debounce(100))
            try await fixture.open(.debounce(100, .trailing, .extend), "m")
            for namespace in [StoreFixture.namespace, "m"] {
                try await fixture.submit("a", in: namespace)
                #expect(try await fixture.touch(wait: 10, in: namespace))
            }
            fixture.pass(10)
            #expect(try await fixture.claim().map(\.text) == ["k trailing a"])
            #expect(try await fixture.claim(in: "m") == [])
            fixture.pass(90)
            #expect(try await fixture.claim(in: "m").map(\.text) == ["k trailing a"])
        },
        ConformanceCase("a touch keeps the gate of a leading edge open, and means nothing to a throttle") { fixture in
            try await fixture.open(.debounce(10, .leading))
            try await fixture.open(.throttle(10, .trailing), "m")
            try await fixture.submit("a")
            try await fixture.submit("a", in: "m")
            fixture.pass(9)
            #expect(try await fixture.touch())
            #expect(try await fixture.touch(in: "m") == false)
            fixture.pass(9)
            #expect(try await fixture.submit("b").due == nil)
            #expect(try await fixture.claim(in: "m").map(\.text) == ["k trailing a"])
            fixture.pass(10)
            #expect(try await fixture.touch() == false)
            #expect(try await fixture.submit("c").due != nil)
        },
        ConformanceCase("a touch interrupts nothing") { fixture in
            try await fixture.open(.restarting(10, .whenSubmitted))
            try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne()
            #expect(try await fixture.touch() == false)
            #expect(try await fixture.report(.heartbeat(lease: .milliseconds(100)), run) == .accepted)
        },
    ]
}

extension StoreFixture {
    fileprivate func touch(
        _ key: String = "k", wait: Int? = nil, in namespace: String = StoreFixture.namespace
    ) async throws -> Bool {
        try await store.touch(Array(key.utf8), in: namespace, wait: wait.map { .milliseconds(Int64($0)) })
    }

    /// Returns the interrupted runs of a worker.
    fileprivate func interruptions(
        by owner: Int64 = 1, besides known: [Int64] = [], atMost time: Int = 0
    ) async throws -> [Int64] {
        try await store.interruptions(
            of: owner, besides: known, in: StoreFixture.namespace, atMost: .milliseconds(time))
    }
}

extension DurableRules {
    /// A debounce in milliseconds that restarts runs.
    fileprivate static func restarting(
        _ wait: Int, maxWait: Int? = nil, _ interrupting: Interruption,
        _ combination: CombinationRule = .collect, maxBatch: Int? = nil
    ) throws -> DurableRules {
        try DurableRules(
            .debounce(
                wait: .milliseconds(Int64(wait)), maxWait: maxWait.map { .milliseconds(Int64($0)) }),
            combination: combination, maxBatch: maxBatch, whileRunning: .restart(interrupting: interrupting))
    }
}
