import CLullSQLite
import Foundation
import Lull
import LullCore
import LullDurable
import Testing

@testable import LullSQLite

/// The answers to callers when a transaction is committed, fails, or has an unknown outcome.
@Suite struct CommitTests {
    private let place: Place
    private let machine = Machine()
    private let file: SQLiteFile

    init() throws {
        place = try Place()
        file = try SQLiteFile(place.path, SQLiteFile.Options(machine, limits: DurableLimits(largestValue: 8)))
        try file.open(try debounce(2))
    }

    /// Makes several submits in one transaction, and returns their answers.
    private func submit(_ submissions: [DurableSubmission]) -> [Result<Int64, DurableError>] {
        let answers = Guarded<[Int: Result<Int64, DurableError>]>([:])
        let calls = submissions.enumerated().map { index, submission in
            StoreCall.submit(submission) { result in answers.change { $0[index] = result.map(\.generation) } }
        }
        file.write(calls)
        return answers.value.sorted { $0.key < $1.key }.map(\.value)
    }

    @Test func `each caller gets its own answer`() throws {
        try file.submit(submission("x", "one", token: "t"))
        let observer = try RawConnection(place.path)
        let version = try observer.number("PRAGMA data_version")
        let answers = submit([
            submission("a", "one"), submission("y", "two", token: "t"), submission("a", "two"),
            submission("a", "far too large"), DurableSubmission(namespace: "none", key: [1], value: []),
            submission("b", "one"), submission("x", "again", token: "t"),
        ])
        #expect(
            answers == [
                .success(1), .failure(.tokenOfOtherKey(token: "t")), .success(2),
                .failure(.tooLarge(bytes: 13, limit: 8)), .failure(.noPolicy(namespace: "none")), .success(1),
                .success(1),
            ])
        #expect(try observer.number("PRAGMA data_version") == version + 1, "they shared one commit")
    }

    @Test func `calls that arrive during a transaction share it at their own instant`() throws {
        let observer = try RawConnection(place.path)
        let version = try observer.number("PRAGMA data_version")
        let dues = Guarded<[String: Int64?]>([:])
        func call(_ key: String) -> StoreCall {
            .submit(submission(key, "one")) { result in dues.change { $0[key] = try? result.get().due } }
        }
        var later = ["b", "c"]
        file.write([call("a")]) {
            guard !later.isEmpty else { return [] }
            machine.pass(1)
            return [call(later.removeFirst())]
        }
        #expect(dues.value == ["a": 2_000_000_000, "b": 3_000_000_000, "c": 4_000_000_000])
        #expect(try observer.number("PRAGMA data_version") == version + 1)
    }

    @Test func `a call that SQLite fails at fails alone`() throws {
        try place.execute(
            """
            CREATE TRIGGER bad BEFORE INSERT ON work WHEN NEW.key = CAST('bad' AS BLOB)
            BEGIN SELECT RAISE(ABORT, 'bad luck'); END
            """)
        let answers = submit([submission("a", "one"), submission("bad", "one"), submission("b", "one")])
        #expect(answers[0] == .success(1))
        #expect(answers[2] == .success(1))
        let error = #expect(throws: DurableError.self) { try answers[1].get() }
        guard case .refused(let why)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(why.contains("bad luck"))
        #expect(try file.status()?.pending == 2)
    }

    @Test func `a call after one that fails is answered`() throws {
        let answers = Guarded<[Int]>([])
        try place.execute("DROP TABLE dead")
        let bad = StoreCall(writes: true) { file throws(DurableError) in
            try file.discard(1, in: file.namespace("n"))
        } receive: { result, _ in
            #expect(throws: DurableError.self) { try result.get() }
            return { answers.change { $0.append(1) } }
        }
        let good = StoreCall.submit(submission("a", "one")) { result in
            #expect(result.map(\.generation) == .success(1))
            answers.change { $0.append(2) }
        }
        file.write([bad, good])
        #expect(answers.value == [1, 2])
    }

    @Test func `a full disk refuses and undoes the transaction`() throws {
        let connection = try #require(file.connection)
        let pages = try connection.number("PRAGMA page_count")
        try connection.execute("PRAGMA max_page_count = \(pages)")
        let full = DurableError.full("the disk of \(place.path) is full")
        var accepted = 0
        for number in 0..<500 {
            switch submit([submission("key \(number)", "12345678")])[0] {
            case .success: accepted += 1
            case .failure(let error): #expect(error == full)
            }
        }
        #expect(accepted < 500)
        #expect(try file.status()?.pending == accepted)
        try connection.execute("PRAGMA max_page_count = 1000000")
        #expect(submit([submission("when there is room", "12345678")]) == [.success(1)])
    }

    @Test(arguments: [true, false])
    func `a commit that was not made is refused`(_ isTheFirstForASecond: Bool) throws {
        try file.submit(submission("b", "one"))
        if isTheFirstForASecond { machine.pass(10) }
        let connection = try #require(file.connection)
        let before = try place.number("SELECT count(*) FROM work")
        sqlite3_commit_hook(connection.handle, { _ in 1 }, nil)
        let error = #expect(throws: DurableError.self) { try submit([submission("a", "one")])[0].get() }
        guard case .refused? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try place.number("SELECT count(*) FROM work") == before)
        #expect(file.connection !== connection, "the file was opened again")
        #expect(throws: Never.self) { try file.submit(submission("a", "one")) }
    }

    @Test func `the file shows whether a commit was made`() throws {
        try file.submit(submission("a", "one"))
        let last = try place.number("SELECT last_commit FROM meta")
        let row = try place.number("SELECT id FROM work")
        let why = DurableError.refused("the disk failed")
        #expect(file.resolve(.number(last), after: why) == nil)
        #expect(file.resolve(.number(last &+ 1), after: why) == why)
        #expect(file.resolve(.submit(row: row, generation: 1), after: why) == nil)
        #expect(file.resolve(.submit(row: row, generation: 2), after: why) == why)
        #expect(file.resolve(.submit(row: row + 1, generation: 1), after: why) == why)
        #expect(try place.number("SELECT count(*) FROM work") == 1)
        #expect(FileManager.default.size(place.path + "-wal") == 0, "the log was copied into the file")
    }

    @Test func `a commit whose file cannot be opened is unknown until it can`() throws {
        try file.submit(submission("a", "one"))
        let last = try place.number("SELECT last_commit FROM meta")
        let away = place.directory + "-away"
        try FileManager.default.moveItem(atPath: place.directory, toPath: away)
        let error = file.resolve(.number(last), after: .refused("the disk failed"))
        guard case .unknown(let text)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(text.hasPrefix("the disk failed; then "))
        #expect(throws: DurableError.self) { try file.submit(submission("a", "two")) }
        try FileManager.default.moveItem(atPath: away, toPath: place.directory)
        #expect(try file.submit(submission("a", "two")).generation == 2)
    }

    @Test func `a reader does not keep writers from committing`() throws {
        let reader = try RawConnection(place.path)
        try reader.execute("BEGIN")
        #expect(try reader.number("SELECT count(*) FROM work") == 0)
        #expect(try file.submit(submission("a", "one")).generation == 1)
        #expect(try reader.number("SELECT count(*) FROM work") == 0)
    }
}

extension FileManager {
    /// The size of a file.
    fileprivate func size(_ path: String) -> Int? {
        (try? attributesOfItem(atPath: path)[.size]) as? Int
    }
}
