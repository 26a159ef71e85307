import Allocations
import Foundation
internal import LullCore
import LullDurable
import LullSQLite
import UpsertFloor

/// The floor and the store of the durable rows, over the same keys, with values of the same size.
final class DurableSides: @unchecked Sendable {
    // Proof of @unchecked Sendable: the floor is used by the thread that measures, or by the queue while that one
    // waits; everything else is constant.
    let floor: OpaquePointer
    let store: SQLiteStore
    let path: String
    private let keys: [[UInt8]]
    private let value: [UInt8]
    private let queue = DispatchQueue(label: "upserts")

    static let namespace = "bench"

    /// Makes a pair of empty files in their own directory.
    init(keys count: Int, wait: CoreDuration, bytes: Int = 100, in directory: URL) {
        value = [UInt8](repeating: UInt8(ascii: "v"), count: bytes)
        try? FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let path = directory.appending(path: "\(UUID()).db").path
        floor = upsert_floor_open(path + ".floor")
        store = blocking { try await SQLiteStore(path: path) }
        self.path = path
        keys = (0..<count).map { Array(String(format: "key-%020d", $0).utf8) }
        let store = store
        _ = blocking { try await store.open(Self.namespace, DurableRules(.debounce(wait: wait))) }
        _ = upsert(keys, perTransaction: 1000)
        _ = submit(keys, tasks: 256)
    }

    deinit { upsert_floor_close(floor) }

    /// Returns this many keys, each drawn from all.
    func draw(_ count: Int, seed: UInt64) -> [[UInt8]] {
        var state = seed
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return keys[Int((state >> 33) % UInt64(keys.count))]
        }
    }

    func upsert(_ keys: [[UInt8]], perTransaction rows: Int) -> Sample {
        let names = keys.flatMap { $0.map { CChar(bitPattern: $0) } }
        return Sample.of(keys.count) {
            upsert_floor_run(floor, names, 24, Int64(keys.count), Int64(rows), value, Int32(value.count))
        }
    }

    /// One row a commit by a task that hands each to a separate thread and awaits it, as a task must, since a commit
    /// blocks.
    func upsertAwaited(_ keys: [[UInt8]]) -> Sample {
        Sample.of(keys.count) {
            blocking { [self] in
                for key in keys {
                    await withCheckedContinuation { continuation in
                        queue.async { [self] in
                            let name = key.map { CChar(bitPattern: $0) }
                            upsert_floor_run(floor, name, 24, 1, 1, value, Int32(value.count))
                            continuation.resume()
                        }
                    }
                }
            }
        }
    }

    func submit(_ keys: [[UInt8]], tasks: Int) -> Sample {
        Sample.of(keys.count) {
            blocking {
                try await withThrowingTaskGroup { group in
                    for task in 0..<tasks {
                        group.addTask { [self] in
                            for index in stride(from: task, to: keys.count, by: tasks) {
                                _ = try await store.submit(
                                    DurableSubmission(namespace: Self.namespace, key: keys[index], value: value))
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }

    /// Submits values to one key of an empty file, 64 tasks at once, then claims and completes them as one run.
    static func collect(_ count: Int, in directory: URL) -> Sample {
        try? FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let path = directory.appending(path: "\(UUID()).db").path
        defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) } }
        let value = [UInt8](repeating: UInt8(ascii: "v"), count: 1000)
        return Sample.of(count) {
            blocking {
                let store = try await SQLiteStore(path: path)
                let rules = DurableRules(try .debounce(wait: .seconds(36000)), combination: .collect)
                _ = try await store.open(namespace, rules)
                try await withThrowingTaskGroup { group in
                    for task in 0..<64 {
                        group.addTask {
                            for _ in stride(from: task, to: count, by: 64) {
                                _ = try await store.submit(
                                    DurableSubmission(namespace: namespace, key: [1], value: value))
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                try await store.flush(nil, in: namespace)
                let terms = DurableClaim.Terms(owner: 1, lease: .seconds(3600), maxAttempts: 3)
                let runs = try await store.claim(DurableClaim(namespace: namespace, terms: terms, limit: 1)).runs
                guard let run = runs.first, run.values.count == count else { fatalError("some values are missing") }
                _ = try await store.report(
                    DurableReport(
                        namespace: namespace, key: run.key, run: run.number, fence: run.fence, owner: 1, .completed))
                await store.close()
            }
        }
    }

    /// Claims and completes everything that is due, 64 at once. While some are completed, others are already claimed.
    func work(_ count: Int) -> Sample {
        let store = store
        return Sample.of(count) {
            blocking {
                let terms = DurableClaim.Terms(owner: 1, lease: .seconds(3600), maxAttempts: 3)
                var runs: [DurableRun] = []
                var done = 0
                while done < count {
                    let claim = DurableClaim(
                        namespace: Self.namespace, terms: terms, holding: runs.map(\.number), limit: 64)
                    async let next = store.claim(claim)
                    try await withThrowingTaskGroup { group in
                        for run in runs {
                            let report = DurableReport(
                                namespace: Self.namespace, key: run.key, run: run.number, fence: run.fence, owner: 1,
                                .completed)
                            group.addTask { _ = try await store.report(report) }
                        }
                        try await group.waitForAll()
                    }
                    done += runs.count
                    runs = try await next.runs
                }
            }
        }
    }
}

private final class Box<Value>: @unchecked Sendable {
    // Proof of @unchecked Sendable: written before a semaphore is signalled, read after.
    var value: Value?
}

/// Waits for a task, on a thread that nothing else needs.
@discardableResult
func blocking<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) -> Value {
    let box = Box<Value>()
    let done = DispatchSemaphore(value: 0)
    Task.detached {
        do {
            box.value = try await body()
        } catch {
            print("the store failed: \(error)")
            exit(70)
        }
        done.signal()
    }
    done.wait()
    guard let value = box.value else { fatalError("signalled before the value was there") }
    return value
}
