import Foundation
import LullDurable
import LullReference
import TestSupport
import Testing

@testable import LullRedis

/// The server ends at once, again and again, while producers submit and a worker works. A crash of the machine is
/// played by a disk that forgets what was not synced.
///
/// `LULL_CRASHES` sets how often.
@Suite("Crashes of a Redis server", .onRedis, .ownThreads, .enabled(if: FaultyDisk.isAvailable, "there is no clang"))
struct RedisCrashTests {
    private let crashes = environment("LULL_CRASHES", default: 1)

    private struct Outcome {
        var acknowledged = 0
        var refused = 0
        var lost = 0
        /// How long before the crash the oldest of the lost submits was acknowledged, in seconds.
        var span = 0.0
        /// The lost submits that were acknowledged before the last write that a completed sync covers.
        var lostBeforeSync = 0
    }

    private func server(_ disk: FaultyDisk, _ durability: RedisStore.Durability) throws -> TestRedis {
        try TestRedis(
            ["save ''", "appendonly yes", "appendfsync \(durability)", "auto-aof-rewrite-percentage 0"],
            environment: disk.environment)
    }

    /// Lets a server crash under load, and returns what was lost.
    ///
    /// - Parameters:
    ///   - fault: What happens to the disk a while before the crash.
    ///   - wait: How long submits wait: what waits longest is lost most.
    private func crash(
        _ durability: RedisStore.Durability, _ fault: FaultyDisk.Mode, wait: Duration
    ) async throws -> Outcome {
        let disk = try FaultyDisk()
        let server = try server(disk, durability)
        let store = try await RedisStore(url: server.url(durability: "\(durability)"))
        var outcome = Outcome()
        let load = try await ServerLoad(on: store, collects: true, wait: wait)
        try await waitUntil { load.count >= 200 }
        try disk.change(to: fault)
        try await Task.sleep(for: .milliseconds(.random(in: 500..<2500)))
        server.crash()
        let crashed = Date().timeIntervalSince1970
        let synced = try disk.crash(server)
        try disk.change(to: .works)
        let before = load.count
        try server.start()
        try await waitUntil { load.count >= before + 100 }
        await load.end()
        try await load.drain(store)
        #expect(try await store.brokenRules() == [])
        await store.close()

        let lost = load.unexecuted
        outcome.acknowledged = load.count
        outcome.refused = load.unanswered
        outcome.lost = lost.count
        outcome.span = lost.map { crashed - $0.at }.max() ?? 0
        outcome.lostBeforeSync = lost.count { $0.at < synced }
        return outcome
    }

    private func crashes(_ durability: RedisStore.Durability, _ fault: FaultyDisk.Mode) async throws -> Outcome {
        var sum = Outcome()
        for number in 0..<crashes {
            let outcome = try await crash(
                durability, fault, wait: number.isMultiple(of: 2) ? .seconds(60) : .milliseconds(5))
            sum.acknowledged += outcome.acknowledged
            sum.refused += outcome.refused
            sum.lost += outcome.lost
            sum.span = max(sum.span, outcome.span)
            sum.lostBeforeSync += outcome.lostBeforeSync
        }
        print(
            """
            \(durability), a disk that \(fault): \(crashes) crashes, \(sum.acknowledged) submits acknowledged, \
            \(sum.refused) refused, \(sum.lost) lost, the oldest \(String(format: "%.2f", sum.span)) s before the crash
            """)
        return sum
    }

    @Test(.longForm)
    func `lose nothing that was acknowledged with always, on a disk that works, is slow or fails`() async throws {
        for fault in [FaultyDisk.Mode.works, .delays(milliseconds: 100), .fails] {
            let outcome = try await crashes(.always, fault)
            #expect(outcome.lost == 0)
        }
    }

    @Test(.longForm)
    func `lose only what came since the last completed sync with everysec`() async throws {
        for fault in [FaultyDisk.Mode.works, .delays(milliseconds: 800)] {
            let outcome = try await crashes(.everysec, fault)
            #expect(outcome.lostBeforeSync == 0)
        }
    }

    /// Nothing helps against a disk that lies, but no step is left half done.
    @Test(.longForm)
    func `lose what a disk drops, and leave no step half done`() async throws {
        let outcome = try await crashes(.always, .drops)
        #expect(outcome.lost > 0)
        #expect(outcome.lostBeforeSync == 0)
    }

    @Test
    func `are not needed for producers to be refused while syncs fail, and nothing is lost when they work again`()
        async throws
    {
        let disk = try FaultyDisk()
        let server = try server(disk, .everysec)
        let store = try await RedisStore(url: server.url(durability: "everysec"))
        let load = try await ServerLoad(on: store, collects: true)
        try await waitUntil { load.count >= 200 }
        try disk.change(to: .fails)
        try await waitUntil { load.unanswered != 0 }
        let submission = DurableSubmission(namespace: "n", key: [1], value: [1])
        let error = await #expect(throws: DurableError.self) { try await store.submit(submission) }
        guard case .refused(let why) = error, why.contains("AOF") else {
            Issue.record("\(String(describing: error))")
            return
        }
        try disk.change(to: .works)
        // A server that has nothing to write does not sync again by itself.
        try server("CONFIG", "SET", "appendonly", "no")
        try server("CONFIG", "SET", "appendonly", "yes")
        let before = load.count
        try await waitUntil { load.count >= before + 100 }
        await load.end()
        try await load.drain(store)
        #expect(load.unexecuted.isEmpty)
        #expect(try await store.brokenRules() == [])
        await store.close()
    }
}
