import Foundation
import LullCore
import LullDurable
import TestSupport
import Testing

@testable import LullSQLite

/// The maintenance of a file while the store is idle.
@Suite(.ownThreads, .timeLimit(.minutes(2))) struct MaintenanceTests {
    private let place: Place
    private let machine = Machine()

    init() throws {
        place = try Place()
    }

    private var limits: DurableLimits { DurableLimits(retention: .seconds(60), tokenLifetime: .seconds(60)) }

    private func rows() throws -> Int64 {
        try place.number("SELECT (SELECT count(*) FROM ended) + (SELECT count(*) FROM tokens)")
    }

    /// Creates a store in which much has ended, all of it long ago.
    private func fill() throws -> SQLiteFile {
        let file = try SQLiteFile(place.path, SQLiteFile.Options(machine, limits: limits))
        try file.open(try debounce(0))
        let calls = (0..<700).map { number in
            StoreCall.submit(submission("key \(number)", "value", token: "\(number)"))
        }
        file.write(calls)
        for run in try file.claim(claim(700)) { try file.report(report(run)) }
        #expect(try rows() == 1400)
        machine.pass(120)
        return file
    }

    @Test func `old entries are deleted in steps`() throws {
        let file = try fill()
        file.maintain()
        // The first transaction deletes some ends and tokens, and leaves the rest to later ones.
        #expect((1..<1400).contains(try rows()))
    }

    @Test func `a waiting worker deletes old entries`() async throws {
        try fill().cleanUp()
        let store = try await SQLiteStore(place.path, SQLiteFile.Options(machine, limits: limits))
        let mark = try await store.claim(claim()).mark
        let waiting = Task { try await store.wait(in: "n", after: mark, atMost: .seconds(60)) }
        try await waitUntil { try rows() == 0 }
        waiting.cancel()
        try await waiting.value
        await store.close()
    }

    @Test func `maintenance does not wait for a writer`() throws {
        let file = try fill()
        let writerLock = try WriterLock(besides: place.path)
        try writerLock.acquire(within: .zero)
        let start = ContinuousClock.now
        file.maintain()
        #expect(ContinuousClock.now - start < .seconds(2))
        #expect(try rows() == 1400)
        writerLock.release()
    }

    @Test func `the log is emptied when nothing was written for a while`() throws {
        let file = try fill()
        func log() -> Int {
            (try? FileManager.default.attributesOfItem(atPath: place.path + "-wal")[.size] as? Int) ?? -1
        }
        #expect(log() > 0)
        try blockUntil {
            file.maintain()
            return log() == 0
        }
        #expect(try rows() == 0)
    }
}
