import Foundation
import LullCore
import LullDurable
import LullReference
import TestSupport
import Testing

@testable import LullSQLite

/// Keys that come and go while another connection reads the file again and again.
///
/// `LULL_CHURN` sets the number of submits.
@Suite(.ownThreads) struct GrowthTests {
    private let place: Place
    private let machine = Machine()
    private let submits = environment("LULL_CHURN", default: 30_000)
    private let keys = 10_000
    private let batch = 100

    init() throws {
        place = try Place()
    }

    private func size(_ suffix: String = "") -> Int {
        (try? FileManager.default.attributesOfItem(atPath: place.path + suffix)[.size] as? Int) ?? 0
    }

    private func submit(_ numbers: Range<Int>, to file: SQLiteFile) {
        let calls = numbers.map { number in
            // All keys in turn, in an order that mixes them.
            StoreCall.submit(submission("key \(number * 7919 % keys)", "a value that is not that short"))
        }
        file.write(calls)
    }

    private func work(on file: SQLiteFile) throws -> Int {
        var executed = 0
        while case let runs = try file.claim(claim(batch)), !runs.isEmpty {
            file.write(
                runs.map { run in .succeeding { file throws(DurableError) in try file.report(report(run)) } })
            executed += runs.count
        }
        return executed
    }

    @Test func `neither the file nor its log grows during reads`() throws {
        // Ends are stored for a fifth of a round; a round is one submit to each key.
        var options = SQLiteFile.Options(machine, limits: DurableLimits(retention: .seconds(20)))
        options.longLog = 500
        let file = try SQLiteFile(place.path, options)
        try file.open(try debounce(1))
        // Reads the file, and holds its snapshot for a while, as a slow query does.
        let status = try SQLiteFile(place.path, options)
        let reader = try RawConnection(place.path)
        var isReading = false
        var (early, late, log) = (0, 0, 0)
        var executed = 0
        for (turn, start) in stride(from: 0, to: submits, by: batch).enumerated() {
            submit(start..<start + batch, to: file)
            machine.pass(1)
            executed += try work(on: file)
            if turn % 3 == 0 { _ = try status.status() }
            if turn % 5 == 0 {
                try reader.execute(isReading ? "COMMIT" : "BEGIN; SELECT count(*) FROM work")
                isReading.toggle()
            }
            if start < submits / 3 { early = max(early, size()) } else { late = max(late, size()) }
            log = max(log, size("-wal"))
        }
        if isReading { try reader.execute("COMMIT") }
        machine.pass(30)
        executed += try work(on: file)
        #expect(executed == submits)
        #expect(try place.number("SELECT count(*) FROM work") == 0)
        print("\(submits) submits: the file had \(early) bytes in the first third, then \(late); its log \(log)")
        #expect(late <= early * 5 / 4)
        // The pages at which it is copied, those that were added during reads, and the largest transaction.
        #expect(log <= 4 * options.longLog * 4120)
    }
}
