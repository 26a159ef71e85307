import Foundation
import LullCore
import LullDurable
import LullReference
import TestSupport
import Testing

@testable import LullSQLite

/// Files whose contents were changed: an error or an answer, and never a crash.
@Suite(.ownThreads) struct DamageTests {
    private let place: Place
    private let machine = Machine()

    init() throws {
        place = try Place()
    }

    /// Creates a file with some of everything.
    private func make() throws -> Data {
        let file = try SQLiteFile(place.path, SQLiteFile.Options(machine))
        try file.open(try debounce(2, .collect))
        for number in 0..<60 {
            try file.submit(submission("key \(number % 23)", "value \(number)", token: "token \(number)"))
            if number % 7 == 0 { machine.pass(2) }
            if number % 9 == 0, let run = try file.claim(claim(1, maxAttempts: 1)).first {
                try file.report(report(run, number % 2 == 0 ? .completed : .failed("no", retry: nil)))
            }
        }
        try file.submit(submission("large", String(repeating: "large", count: 3000)))
        machine.pass(3)
        _ = try file.claim(claim(3))
        file.cleanUp()
        return try #require(FileManager.default.contents(atPath: place.path))
    }

    /// Makes every kind of call.
    private func useAll(of file: SQLiteFile) throws(DurableError) {
        var failure: DurableError?
        func attempt(_ body: () throws(DurableError) -> Void) {
            do throws(DurableError) { try body() } catch { failure = failure ?? error }
        }
        attempt { () throws(DurableError) in _ = try file.status() }
        attempt { () throws(DurableError) in
            _ = try file.read { transaction throws(DurableError) in
                _ = try transaction.list(in: "n")
                for dead in try transaction.dead(in: "n") {
                    _ = try transaction.state(
                        of: DurableReceipt(namespace: "n", key: dead.key, generation: 1, dueIn: nil, due: nil),
                        in: transaction.namespace("n"), at: transaction.now)
                }
            }
        }
        for number in 0..<24 {
            attempt { () throws(DurableError) in
                try file.submit(submission("key \(number)", "new", token: "t \(number)"))
            }
        }
        attempt { () throws(DurableError) in
            for run in try file.claim(claim(100, maxAttempts: 2)) { try file.report(report(run)) }
        }
        attempt { () throws(DurableError) in
            _ = try file.change(.flush, allIn: "n") + file.change(.cancel, allIn: "n")
        }
        if let failure { throw failure }
    }

    @Test func `a file with changed bytes is answered truthfully or refused with a sentence`() throws {
        let whole = try make()
        var random = SplitMix(seed: environment("LULL_SEED", default: 5))
        var outcomes: [String: Int] = [:]
        for _ in 0..<environment("LULL_DAMAGE", default: 60) {
            var bytes = whole
            // One in four in the header of the file, which determines how the rest is read.
            let limit = random.oneIn(4) ? 100 : bytes.count
            for _ in 0..<random.pick([1, 1, 2, 40]) {
                let place = Int.random(in: 0..<limit, using: &random)
                bytes[place] = random.pick([
                    0, 0xFF, bytes[place] ^ 1, bytes[place] ^ 0x80, UInt8(random.next() & 0xFF),
                ])
            }
            try damage(bytes)
            try count(&outcomes)
        }
        print("damaged files: \(outcomes.sorted { $0.key < $1.key })")
        #expect(outcomes.count >= 3)
    }

    @Test func `a file that is too short`() throws {
        let whole = try make()
        var outcomes: [String: Int] = [:]
        for size in [1, 15, 99, 100, 511, 4095, 4096, 5000, 8192, whole.count - 4096, whole.count - 1] {
            try damage(whole.prefix(size))
            try count(&outcomes)
        }
        #expect(outcomes["fine", default: 0] <= 1)
    }

    @Test func `columns with invalid values are answered or refused with a sentence`() throws {
        let whole = try make()
        let row = RowColumn.all.map(\.name).joined(separator: " ")
        let run = RowColumn.ofRun.map(\.name).joined(separator: " ")
        let columns = """
            work wake error pending ready run \(row)
            meta base sequence highest since_boot wall start
            namespaces kind wait max_wait edges max_count combination max_batch spacing
            ended first last how at recorded
            collected namespace key generation value
            spent namespace key first last
            dead at value \(run)
            tokens generation due at
            """.split(separator: "\n").map { $0.split(separator: " ") }
        let values = ["\(Int64.max)", "\(Int64.min)", "-1", "x'00ff'", "NULL"]
        // Two for each column, or in the long form all.
        let some = environment("LULL_DAMAGE", default: 60) > 150 ? values.count : 2
        var outcomes: [String: Int] = [:]
        let all = columns.flatMap { line in line.dropFirst().map { (line[0], $0) } }
        for (number, (table, column)) in all.enumerated() {
            for value in (number..<number + some).map({ values[$0 % values.count] }) {
                try damage(whole)
                guard (try? place.execute("UPDATE \(table) SET \(column) = \(value)")) != nil else { continue }
                try count(&outcomes)
            }
        }
        print("strange values: \(outcomes.sorted { $0.key < $1.key })")
    }

    private func damage(_ bytes: Data) throws {
        for name in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: place.path + name) }
        try bytes.write(to: URL(fileURLWithPath: place.path))
    }

    /// Uses the file, and counts the outcome by its kind.
    private func count(_ outcomes: inout [String: Int]) throws {
        let before = FileManager.default.contents(atPath: place.path)
        var isOpen = false
        do throws(DurableError) {
            let file = try SQLiteFile(place.path, SQLiteFile.Options(machine, patience: .milliseconds(20)))
            isOpen = true
            try useAll(of: file)
            outcomes["fine", default: 0] += 1
        } catch {
            #expect(isOpen || FileManager.default.contents(atPath: place.path) == before, "it is not changed")
            #expect(error.reason.contains(place.path) || error.reason.contains("namespace"), "\(error)")
            #expect(!error.reason.contains("\n"))
            let kind =
                error.reason.contains("damaged")
                ? "damaged"
                : error.reason.contains("not one of") || error.reason.contains("not a database") ? "not ours" : "other"
            outcomes[kind, default: 0] += 1
        }
    }
}
