import Foundation
import LullDurable
import Testing

@testable import LullSQLite

/// A file that an older copy replaces: no number that was given meanwhile is given again.
@Suite struct RestoredFileTests {
    private let place: Place
    private let machine = Machine()

    init() throws {
        place = try Place()
    }

    /// Does the work of some keys, and returns the runs.
    private func work(_ keys: [String]) throws -> [DurableRun] {
        let file = try SQLiteFile(place.path, SQLiteFile.Options(machine))
        try file.open(try debounce(0))
        var runs: [DurableRun] = []
        for key in keys {
            try file.submit(submission(key, "value"))
            machine.pass(nanoseconds: 1_000_000)
            let claimed = try file.claim(claim())
            for run in claimed { try file.report(report(run)) }
            runs += claimed
        }
        file.cleanUp()
        return runs
    }

    /// A way of restoring a copy.
    enum Restoring: CaseIterable {
        case renaming, overwriting
    }

    private func copy() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: place.path)) }

    private func restore(_ copy: Data, by way: Restoring) throws {
        switch way {
        case .renaming:
            try copy.write(to: URL(fileURLWithPath: place.path + ".new"))
            #expect(rename(place.path + ".new", place.path) == 0)
        case .overwriting:
            let handle = try FileHandle(forUpdating: URL(fileURLWithPath: place.path))
            try handle.truncate(atOffset: 0)
            try handle.write(contentsOf: copy)
            try handle.close()
        }
    }

    private func numbers(_ runs: [DurableRun]) -> [Int64] {
        runs.flatMap { [$0.number, $0.fence, $0.submits.upperBound] }
    }

    @Test(arguments: Restoring.allCases)
    func `a restored copy gives no number again`(_ way: Restoring) throws {
        let early = try work(["a", "b"])
        let copy = try copy()
        let lost = try work(["b", "c", "d"])
        machine.pass(1)
        try restore(copy, by: way)
        let new = try work(["d", "e", "f"])
        let (before, after) = (numbers(early + lost), numbers(new))
        #expect(before.count == 15 && after.count == 9)
        #expect((before.max() ?? 0) < (after.min() ?? 0), "\(before) \(after)")
    }

    @Test func `an adopted copy gives no number again that a clock that was ahead has made`() throws {
        _ = try work(["a", "b"])
        let copy = try copy()
        machine.setWall(by: 7200)
        let lost = try work(["b", "c"])
        machine.setWall(by: -7200)
        try restore(copy, by: .renaming)
        let file = try SQLiteFile(place.path, SQLiteFile.Options(machine))
        let floor = try file.adopt()
        let new = try work(["c", "d"])
        #expect((numbers(lost).max() ?? 0) < floor && floor < (numbers(new).min() ?? 0), "\(lost) \(floor) \(new)")
    }

    @Test func `numbers grow when the wall clock is set back`() throws {
        let early = try work(["a", "b"])
        machine.setWall(by: -7200)
        let late = try work(["b", "a", "c"])
        #expect((numbers(early).max() ?? 0) < (late.map(\.number).min() ?? 0))
        let generations = (early + late).filter { text($0.key) == "a" }.map(\.submits.upperBound)
        #expect(generations.count == 2 && generations == generations.sorted() && Set(generations).count == 2)
    }
}
