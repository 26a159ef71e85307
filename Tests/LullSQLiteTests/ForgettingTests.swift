import LullDurable
import TestSupport
import Testing

@testable import LullSQLite

/// What is recorded of a namespace may be millions of rows: it is deleted some thousands at a time.
@Suite(.ownThreads)
struct ForgettingTests {
    private let place: Place
    private let file: SQLiteFile

    init() throws {
        place = try Place()
        file = try SQLiteFile(place.path, SQLiteFile.Options(Machine()))
        try file.open(try debounce(1000))
        try file.write { transaction throws(DurableError) in
            for number in 0..<12_000 {
                _ = try transaction.submit(submission("\(number)", "value", token: "\(number)"))
            }
        }
        #expect(try file.change(.cancel, allIn: "n") == 12_000)
    }

    private func step() throws(DurableError) -> Bool {
        try file.write { transaction throws(DurableError) in try transaction.forgetSome(of: "n") }
    }

    private func rows() throws -> [Int64] {
        try ["ended", "tokens", "work", "namespaces"].map { try place.number("SELECT count(*) FROM \($0)") }
    }

    @Test func `a namespace is deleted in as many steps as it needs and leaves nothing`() throws {
        #expect(try rows() == [12_000, 12_000, 0, 1])
        #expect(try !step())
        #expect(try rows() == [7000, 12_000, 0, 1])
        try file.forget("n")
        #expect(try rows() == [0, 0, 0, 0])
        #expect(try file.status() == nil)
    }

    @Test func `work that comes between two steps stops it and is kept`() throws {
        #expect(try !step())
        let receipt = try file.submit(submission("late", "value"))
        let error = #expect(throws: DurableError.self) { try file.forget("n") }
        guard case .hasWork(let status) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(status.pending == 1)
        #expect(try file.state(of: receipt) == .pending)
        #expect(try file.audit(isComplete: false) == [])
        #expect(try file.change(.cancel, allIn: "n") == 1)
        try file.forget("n")
        #expect(try rows() == [0, 0, 0, 0])
    }
}
