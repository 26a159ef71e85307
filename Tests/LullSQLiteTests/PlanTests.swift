import LullDurable
import TestSupport
import Testing

@testable import LullSQLite

/// The plans of the queries whose cost must be that of what they find.
@Suite(.ownThreads) struct SQLitePlanTests {
    private let place: Place

    init() throws {
        place = try Place()
    }

    @Test(arguments: [
        (Query.earliestRows, "work_by_wake"), (.listedRows, "sqlite_autoindex_work_1"),
        (.oldestDeadRuns, "dead_by_age"), (.newestDeadRuns, "dead_by_age"),
    ])
    func `lists are read in the order of an index`(_ query: Query, _ index: String) throws {
        let file = try SQLiteFile(place.path, SQLiteFile.Options())
        let steps = try file.read { transaction throws(DurableError) in
            let statement = try transaction.connection.prepare("EXPLAIN QUERY PLAN " + query.sql)
            defer { statement.reset() }
            var steps: [String] = []
            while try statement.next() { steps.append(statement.text(3)) }
            return steps
        }
        #expect(steps.count == 1 && steps.first?.contains("USING INDEX \(index) ") == true, "\(steps)")
    }
}
