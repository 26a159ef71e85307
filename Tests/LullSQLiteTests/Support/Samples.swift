import Foundation
import Lull
import LullCore
import LullDurable
import LullTesting
import TestSupport
import Testing

@testable import LullSQLite

/// A directory for one test.
final class Place: Sendable {
    let directory: String

    init() throws {
        // In memory if possible: these tests do not depend on the disk.
        let memory = "/dev/shm/"
        let parent = FileManager.default.isWritableFile(atPath: memory) ? memory : NSTemporaryDirectory()
        directory = parent + "lull-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    var path: String { directory + "/work.db" }
}

/// The clocks of a machine, advanced by the test.
final class Machine: Sendable {
    private let reading = Guarded(
        // The numbers of a file follow its wall clock: while that stands here, they begin with 1.
        StoreTime.Reading(boot: "first", sinceBoot: .seconds(100), wall: .origin))

    var clock: StoreClock {
        StoreClock(read: { self.reading.value }, sleep: StoreClock.system.sleep)
    }

    func pass(_ seconds: Int64) { pass(nanoseconds: seconds * 1_000_000_000) }

    func pass(nanoseconds: Int64) {
        reading.change { reading in
            reading.sinceBoot.nanoseconds += nanoseconds
            reading.wall = reading.wall.advanced(by: .nanoseconds(nanoseconds))
        }
    }

    func reboot(as name: String, wallPasses seconds: Int64) {
        reading.change { reading in
            reading.boot = name
            reading.sinceBoot = .seconds(1)
            reading.wall = reading.wall.advanced(by: .seconds(seconds))
        }
    }

    func setWall(by seconds: Int64) {
        reading.change { $0.wall = $0.wall.advanced(by: .seconds(seconds)) }
    }
}

extension SQLiteFile.Options {
    init(_ machine: Machine, limits: DurableLimits = DurableLimits(), patience: Duration = .seconds(5)) {
        self.init()
        clock = machine.clock
        self.limits = limits
        self.patience = patience
    }
}

extension DurableDebouncer<String, String> {
    /// Waits until all values of a key are due, and no worker has a lease of it any more.
    func waitUntilFree(_ key: String) async throws {
        try await waitUntil {
            try await list(prefix: key).allSatisfy { $0.pending == 0 && $0.run?.leaseFor ?? .zero <= .zero }
        }
    }
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

func debounce(
    _ seconds: Int64, maxWait: Int64? = nil, edges: Edges = .trailing, maxCount: Int? = nil,
    _ combination: CombinationRule = .latest
) throws -> DurableRules {
    let policy = try Policy.debounce(
        wait: .seconds(seconds), maxWait: maxWait.map { .seconds($0) }, edges: edges, maxCount: maxCount)
    return DurableRules(policy, combination: combination)
}

func submission(_ key: String, _ value: String, token: String? = nil) -> DurableSubmission {
    DurableSubmission(namespace: "n", key: bytes(key), value: bytes(value), token: token)
}

func claim(_ limit: Int = 10, owner: Int64 = 1, maxAttempts: Int = 3, holding: [Int64] = []) -> DurableClaim {
    let terms = DurableClaim.Terms(owner: owner, lease: .seconds(30), maxAttempts: maxAttempts)
    return DurableClaim(namespace: "n", terms: terms, holding: holding, limit: limit)
}

func report(_ run: DurableRun, owner: Int64 = 1, _ kind: DurableReport.Kind = .completed) -> DurableReport {
    DurableReport(namespace: "n", key: run.key, run: run.number, fence: run.fence, owner: owner, kind)
}

extension StoreCall {
    /// A call that writes, and whose caller needs no answer but success.
    static func succeeding<Answer: Sendable>(
        _ body: @escaping @Sendable (inout SQLiteTransaction) throws(DurableError) -> Answer
    ) -> StoreCall {
        StoreCall(writes: true, body) { result, _ in { #expect(throws: Never.self) { try result.get() } } }
    }

    static func submit(
        _ submission: DurableSubmission,
        _ receive: @escaping @Sendable (Result<DurableReceipt, DurableError>) -> Void = { result in
            #expect(throws: Never.self) { try result.get() }
        }
    ) -> StoreCall {
        StoreCall(writes: true) { file throws(DurableError) in
            try file.submit(submission)
        } receive: { result, _ in
            { receive(result) }
        }
    }
}

extension SQLiteTransaction {
    func names() throws(DurableError) -> [String] { try connection.namespaces().map(\.name) }

    mutating func status(of name: String) throws(DurableError) -> DurableStatus {
        try status(of: try namespace(name))
    }

    mutating func list(in name: String) throws(DurableError) -> [DurableListing<[UInt8]>] {
        try list(prefix: [], from: [], limit: 100, in: try namespace(name))
    }

    mutating func dead(in name: String) throws(DurableError) -> [DurableDeadRun<[UInt8]>] {
        try deadRuns(matching: .all, newestFirst: false, limit: 100, withValues: true, in: try namespace(name))
    }
}

// The calls of a file, each in a transaction of its own, and those in steps.
extension SQLiteFile {
    func change(_ change: DurableChange, allIn name: String) throws(DurableError) -> Int {
        var sweep = try read { transaction throws(DurableError) in
            try transaction.sweep(of: transaction.namespace(name), matching: .all, at: transaction.now)
        }
        while !sweep.isComplete {
            sweep = try write { transaction throws(DurableError) in
                try transaction.change(change, sweep, in: transaction.namespace(name))
            }
        }
        return sweep.count
    }

    func forget(_ name: String) throws(DurableError) {
        while try !write({ transaction throws(DurableError) in try transaction.forgetSome(of: name) }) {}
    }

    @discardableResult
    func open(_ rules: DurableRules?, changingPolicy: Bool = false) throws(DurableError) -> DurableRules {
        try write { transaction throws(DurableError) in
            try transaction.open("n", rules, changingPolicy: changingPolicy).rules
        }
    }

    @discardableResult
    func submit(_ submission: DurableSubmission) throws(DurableError) -> DurableReceipt {
        try write { transaction throws(DurableError) in try transaction.submit(submission) }
    }

    func claim(_ claim: DurableClaim) throws(DurableError) -> [DurableRun] {
        try write { transaction throws(DurableError) in try transaction.claim(claim).runs }
    }

    @discardableResult
    func report(_ report: DurableReport) throws(DurableError) -> DurableReport.Answer {
        try write { transaction throws(DurableError) in try transaction.report(report) }
    }

    func state(of receipt: DurableReceipt) throws(DurableError) -> DurableState {
        try read { transaction throws(DurableError) in
            try transaction.state(of: receipt, in: transaction.namespace(receipt.namespace), at: transaction.now)
        }
    }

    func status() throws(DurableError) -> DurableStatus? {
        try read { transaction throws(DurableError) in try transaction.status() }.first
    }

    func keys() throws(DurableError) -> [String] {
        try read { transaction throws(DurableError) in try transaction.list(in: "n") }
            .map { text($0.key) }
    }
}
