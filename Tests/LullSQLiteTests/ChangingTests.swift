import Foundation
import LullCore
import LullDurable
import TestSupport
import Testing

@testable import LullSQLite

/// Flushing and cancelling all keys, while others use the file.
@Suite(.ownThreads) struct ChangingTests {
    private let place: Place
    private let machine = Machine()
    private let file: SQLiteFile
    /// Another process.
    private let other: SQLiteFile

    init() throws {
        place = try Place()
        file = try SQLiteFile(place.path, SQLiteFile.Options(machine))
        try file.open(try debounce(60))
        other = try SQLiteFile(place.path, SQLiteFile.Options(machine))
    }

    private func begin() throws -> DurableSweep<Int64> {
        try file.read { transaction throws(DurableError) in
            try transaction.sweep(of: transaction.namespace("n"), matching: .all, at: transaction.now)
        }
    }

    /// Makes the shortest step.
    private func step(_ change: DurableChange, _ sweep: inout DurableSweep<Int64>) throws {
        let rest = sweep
        sweep = try file.write { transaction throws(DurableError) in
            try transaction.change(change, rest, in: transaction.namespace("n"), for: .zero)
        }
    }

    private func count(_ what: String) throws -> Int64 {
        try place.number("SELECT count(*) FROM work WHERE \(what)")
    }

    @Test func `all keys are flushed in steps`() throws {
        for number in 0..<1000 { try file.submit(submission("key \(number)", "value")) }
        machine.pass(1)
        var sweep = try begin()
        var steps = 0
        while !sweep.isComplete {
            try step(.flush, &sweep)
            steps += 1
            #expect(try count("ready_from IS NOT NULL") == Int64(min(1000, 32 * steps)))
            // The lock is free between two steps.
            try other.submit(submission("key of step \(steps)", "value"))
            try other.submit(submission("key 999", "again"))
        }
        #expect(steps == 32)
        #expect(sweep.count == 1000)
        // What came later is as it was submitted.
        #expect(try count("pending_count > 0 AND CAST(key AS TEXT) LIKE 'key of step%'") == 32)
        #expect(try file.audit(isComplete: true) == [])
        // In the order of the first submits.
        machine.pass(1)
        let runs = try file.claim(claim(3))
        #expect(runs.map { text($0.key) } == ["key 0", "key 1", "key 2"])
    }

    @Test func `a key that comes back while all are cancelled is not cancelled`() throws {
        for number in 0..<40 { try file.submit(submission("key \(number)", "value")) }
        machine.pass(1)
        var sweep = try begin()
        try step(.cancel, &sweep)
        #expect(sweep.count == 32)
        // The newest key ends in another way, and the next one gets its row's number.
        _ = try other.write { transaction throws(DurableError) in
            try transaction.change(.cancel, bytes("key 39"), in: transaction.namespace("n"), at: transaction.now)
        }
        machine.pass(1)
        try other.submit(submission("new", "value"))
        #expect(try count("id = 40 AND key = CAST('new' AS BLOB)") == 1)
        try step(.cancel, &sweep)
        #expect(sweep.isComplete)
        #expect(sweep.count == 39)
        #expect(try count("pending_count = 1") == 1)
        #expect(try file.audit(isComplete: true) == [])
    }

    @Test func `the calls of a store answer what they did`() async throws {
        let store = try await SQLiteStore(place.directory + "/store.db", SQLiteFile.Options(machine))
        try await store.open("n", debounce(60))
        for number in 0..<100 { _ = try await store.submit(submission("key \(number)", "value")) }
        #expect(try await store.flush(nil, in: "n") == 100)
        #expect(try await store.flush(nil, in: "n") == 0)
        for number in 0..<100 { _ = try await store.submit(submission("key \(number)", "value")) }
        #expect(try await store.cancel(nil, in: "n") == 200)
        #expect(try await store.status().map { [$0.pending, $0.ready] } == [[0, 0]])
        await #expect(throws: DurableError.noPolicy(namespace: "none")) { try await store.flush(nil, in: "none") }
        await store.close()
    }
}
