import Foundation
import LullCore
import LullDurable
import TestSupport
import Testing

@testable import LullSQLite

/// The store with its thread: simultaneous callers, and waiting workers.
@Suite(.timeLimit(.minutes(1))) struct StoreTests {
    private let place: Place

    init() throws {
        place = try Place()
    }

    @Test func `simultaneous callers share commits and each gets its answer`() async throws {
        let disk = FaultyDisk()
        var options = SQLiteFile.Options()
        options.vfs = disk.name
        let store = try await SQLiteStore(place.path, options)
        try await store.open("n", try debounce(3600))
        let before = disk.calls(.sync, of: .log)
        let generations = try await withThrowingTaskGroup(of: [Int64].self) { group in
            for task in 0..<64 {
                group.addTask {
                    var numbers: [Int64] = []
                    for _ in 0..<20 {
                        numbers.append(try await store.submit(submission("key \(task)", "v")).generation)
                    }
                    return numbers
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(generations.allSatisfy { numbers in numbers == numbers.first.map { Array($0..<$0 + 20) } })
        #expect(generations.count == 64)
        // Every commit waits for the disk once.
        #expect(1..<64 * 20 / 2 ~= disk.calls(.sync, of: .log) - before)
        await store.close()
    }

    @Test func `a worker is woken by another store although its own is busy`() async throws {
        let first = try await SQLiteStore(path: place.path)
        try await first.open("n", try debounce(0))
        try await first.open("busy", try debounce(3600))
        let second = try await SQLiteStore(path: place.path)
        let mark = try await first.claim(claim()).mark
        let busy = Task {
            while !Task.isCancelled {
                _ = try await first.submit(DurableSubmission(namespace: "busy", key: [1], value: [1]))
            }
        }
        _ = try await second.submit(submission("a", "one"))
        let start = ContinuousClock.now
        try await first.wait(in: "n", after: mark, atMost: .seconds(30))
        #expect(ContinuousClock.now - start < .seconds(10))
        busy.cancel()
        try await busy.value
        await first.close()
        await second.close()
    }

    @Test func `closing leaves an empty log and reopening finds everything`() async throws {
        let store = try await SQLiteStore(path: place.path)
        try await store.open("n", try debounce(3600))
        let receipt = try await store.submit(submission("a", "one"))
        await store.close()
        #expect(try FileManager.default.attributesOfItem(atPath: place.path + "-wal")[.size] as? Int == 0)
        let again = try await SQLiteStore(path: place.path)
        #expect(try await again.state(of: receipt) == .pending)
        #expect(try await again.status().map(\.pending) == [1])
        await again.close()
    }
}
