import LullCore
import LullDurable
import LullSQLite
import LullTesting
import Testing

@Suite struct FileTests {
    private let place: Place
    private let machine = Machine()

    init() throws {
        place = try Place()
    }

    private func file(_ limits: DurableLimits = DurableLimits()) throws -> SQLiteFile {
        try SQLiteFile(place.path, SQLiteFile.Options(machine, limits: limits))
    }

    @Test func `a value is claimed when it is due and then removed`() throws {
        let file = try file()
        try file.open(try debounce(2))
        let receipt = try file.submit(submission("a", "one"))
        #expect(receipt.dueIn == .seconds(2))
        #expect(try file.claim(claim()) == [])
        machine.pass(1)
        try file.submit(submission("a", "two"))
        machine.pass(1)
        #expect(try file.claim(claim()) == [])
        #expect(try file.state(of: receipt) == .pending)
        machine.pass(1)
        #expect(try file.state(of: receipt) == .ready)
        let runs = try file.claim(claim())
        #expect(runs.map { text($0.values[0]) } == ["two"])
        #expect(runs.map(\.count) == [2])
        #expect(try file.state(of: receipt) == .running(attempt: 1))
        #expect(try file.report(report(runs[0])) == .accepted)
        #expect(try file.report(report(runs[0])) == .alreadyDone)
        #expect(try file.state(of: receipt) == .executed)
        #expect(try file.status()?.pending == 0)
    }

    @Test func `another process finds everything`() throws {
        let first = try file()
        try first.open(try debounce(2))
        try first.submit(submission("a", "one"))
        machine.pass(5)
        let second = try file()
        #expect(try second.open(nil) == (try debounce(2)))
        #expect(try second.claim(claim()).map { text($0.values[0]) } == ["one"])
    }

    @Test(arguments: [CombinationRule.latest, .first, .collect])
    func `values become one as the rules say`(_ combination: CombinationRule) throws {
        let file = try file()
        try file.open(try debounce(2, combination))
        // Bytes that are no text, and no bytes at all.
        let values: [[UInt8]] = [[0, 1, 0], [], Array("a:b,".utf8), [255, 0]]
        for value in values.dropLast() {
            try file.submit(DurableSubmission(namespace: "n", key: [0], value: value))
        }
        machine.pass(2)
        // The value is due, but was not claimed: this one becomes due, too.
        try file.submit(DurableSubmission(namespace: "n", key: [0], value: values[3]))
        machine.pass(2)
        let run = try #require(try file.claim(claim()).first)
        switch combination {
        case .latest: #expect(run.values == [values[3]])
        case .first: #expect(run.values == [values[0]])
        case .collect: #expect(run.values == values)
        }
        #expect(run.count == 4)
        #expect(run.submits.count == 4)
    }

    @Test func `a run that fails is retried, then dies, and can be retried again`() throws {
        let file = try file()
        try file.open(try debounce(0, .collect))
        try file.submit(submission("a", "one"))
        for attempt in 1...2 {
            let run = try #require(try file.claim(claim(maxAttempts: 2)).first)
            #expect(run.attempt == attempt)
            #expect(run.values == [bytes("one")])
            let retry: CoreDuration? = attempt == 1 ? .seconds(1) : nil
            #expect(try file.report(report(run, .failed("no", retry: retry))) == .accepted)
            machine.pass(1)
        }
        let dead = try file.read { transaction throws(DurableError) in try transaction.dead(in: "n") }
        #expect(dead.map { $0.values } == [[bytes("one")]])
        #expect(dead.map(\.error) == ["no"])
        #expect(try file.status()?.dead == 1)
        let id = try #require(dead.first?.number)
        #expect(
            try file.write { transaction throws(DurableError) in
                try transaction.retry(id, in: transaction.namespace("n"), at: transaction.now)
            } == .accepted)
        let run = try #require(try file.claim(claim()).first)
        #expect((run.number, run.attempt, run.values) == (id, 1, [bytes("one")]))
    }
}
