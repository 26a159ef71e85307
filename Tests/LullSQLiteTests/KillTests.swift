import CLullSQLite
import DurableConformance
import Foundation
import Lull
import LullCore
import LullDurable
import LullReference
import LullSQLite
import Synchronization
import Testing
import TestSupport

/// Processes that are killed while they use a store, and processes that are stopped beyond their lease.
///
/// `LULL_KILLS` sets the number of kills, `LULL_SEED` chooses other moments.
@Suite("Kills", .ownThreads, .serialized)
struct KillTests {
    private let place: Place
    private let kills = environment("LULL_KILLS", default: 3)
    private let seed = environment("LULL_SEED", default: UInt64(7))

    init() throws {
        place = try Place()
    }

    private var log: String { place.directory + "/log" }

    /// Opens the store with a short wait, so that many values become one run.
    private func open() async throws -> (SQLiteStore, DurableDebouncer<String, String>) {
        let store = try await SQLiteStore(path: place.path)
        let debouncer = try await DurableDebouncer<String, String>(
            collectingFor: .milliseconds(3), maxWait: .milliseconds(12), namespace: "kill", in: store)
        return (store, debouncer)
    }

    @Test
    func `every submit that a killed producer knows to be recorded is executed once, every other at most once`()
        async throws
    {
        let (store, debouncer) = try await open()
        let executed = Record<String>()
        let working = Task {
            try await debouncer.run { run in for value in run.values { executed.add(value) } }
        }
        var random = SplitMix(seed: seed)
        var lines = Lines(log)
        for number in 0..<kills {
            let child = try Child("submit", place.path, log, "\(number)")
            try await lines.wait(for: lines.all.count + Int.random(in: 1...400, using: &random))
            child.kill()
            try lines.read()
        }
        try await drain(debouncer, within: .seconds(25))
        working.cancel()
        try? await working.value
        await store.close()

        let offered = Set(lines.all.filter { $0.hasPrefix("? ") }.map { String($0.dropFirst(2)) })
        let acknowledged = lines.all.filter { $0.hasPrefix("+ ") }.map { String($0.dropFirst(2)) }
        let counts = Dictionary(executed.all.map { ($0, 1) }, uniquingKeysWith: +)
        let lost = acknowledged.filter { counts[$0] == nil }
        let repeated = counts.filter { $0.value > 1 }
        #expect(lost == [], "LULL_SEED=\(seed)")
        #expect(repeated == [:], "LULL_SEED=\(seed)")
        #expect(Set(counts.keys).subtracting(offered) == [])
        #expect(acknowledged.count >= kills)
        #expect(try integrity() == "ok")
        print(
            "\(kills) producers killed: \(acknowledged.count) submits acknowledged, "
                + "\(offered.count - acknowledged.count) not, of which \(counts.count - acknowledged.count) were "
                + "recorded"
        )
    }

    @Test
    func `a run of a killed worker is repeated with the same id and values, at most once a kill`() async throws {
        let (store, debouncer) = try await open()
        let receipts = Record<DurableReceipt>()
        let started = Guarded(0)
        let submitting = Task {
            for serial in 0... {
                // Never far ahead of the workers.
                try await waitUntil { serial < started.value + 500 }
                receipts.add(try await debouncer.submit("\(serial)", for: "\(serial % 500)"))
            }
        }
        var random = SplitMix(seed: seed)
        var lines = Lines(log)
        for number in 0..<kills {
            let child = try Child("work", place.path, log, "\(number)")
            started.change { $0 = lines.all.count }
            try await lines.wait(for: lines.all.count + Int.random(in: 1...60, using: &random))
            child.kill()
            try lines.read()
        }
        submitting.cancel()
        _ = await submitting.result
        let last = try Child("work", place.path, log, "\(kills)")
        try await drain(debouncer, within: .seconds(60))
        last.kill()
        try lines.read()

        for receipt in receipts.all {
            let state = try await debouncer.state(of: receipt)
            #expect(state == .executed, "\(receipt)")
        }
        await store.close()
        // NAME RUN ATTEMPT KEY FROM TO VALUES
        let starts = lines.all.map { $0.split(separator: " ").map(String.init) }
        var repetitions = 0
        for (run, starts) in Dictionary(grouping: starts, by: { $0[1] }) {
            let contents = Set(starts.map { words in words[3...].joined(separator: " ") })
            #expect(contents.count == 1, "run \(run) is always the same")
            #expect(Set(starts.map { $0[0] }).count == starts.count, "run \(run) is repeated at most once a kill")
            #expect(
                Set(starts.map { $0[2] }).count == starts.count, "each start of run \(run) is an attempt of its own")
            repetitions += starts.count - 1
        }
        let runs = Dictionary(starts.map { ($0[1], $0[6]) }, uniquingKeysWith: { first, _ in first })
        let values = runs.values.flatMap { $0.split(separator: ",") }
        #expect(Set(values).count == values.count, "no value is part of two runs")
        #expect(values.count >= receipts.all.count)
        #expect(try integrity() == "ok")
        print("\(kills) workers killed: \(receipts.all.count) submits, \(runs.count) runs, \(repetitions) repeated")
    }

    @Test
    func `a worker that was stopped beyond its lease is refused when it continues`() async throws {
        let (store, debouncer) = try await open()
        for number in 0..<kills {
            let log = self.log + ".\(number)"
            let permit = place.directory + "/permit.\(number)"
            let receipt = try await debouncer.submit("value", for: "key")
            let child = try Child("hold", place.path, log, permit)
            var lines = Lines(log)
            try await lines.wait(for: 1)
            child.signal(SIGSTOP)
            // Another worker claims the run as soon as the lease has ended.
            let terms = DurableClaim.Terms(owner: 0, lease: .seconds(60), maxAttempts: 1_000_000)
            var run: DurableRun?
            try await waitUntil {
                run = try await store.claim(DurableClaim(namespace: "kill", terms: terms, limit: 1)).runs.first
                return run != nil
            }
            let taken = try #require(run)
            #expect(lines.all.first?.hasPrefix("claimed \(taken.id) ") == true && taken.attempt == 2)
            let isEnded = number.isMultiple(of: 2)
            let report = DurableReport(
                namespace: "kill", key: taken.key, run: taken.number, fence: taken.fence, owner: 0, .completed)
            if isEnded { #expect(try await store.report(report) == .accepted) }
            try Data().write(to: URL(fileURLWithPath: permit))
            child.signal(SIGCONT)
            child.wait()
            try await lines.wait(for: 2)
            #expect(lines.all.last == (isEnded ? "answer alreadyDone" : "answer leaseLost"))
            if !isEnded {
                #expect(try await debouncer.state(of: receipt) == .running(attempt: 2))
                #expect(try await store.report(report) == .accepted)
            }
            #expect(try await debouncer.state(of: receipt) == .executed)
        }
        await store.close()
        print("\(kills) workers stopped beyond their lease: all refused")
    }

    @Test
    func `during a pause nobody takes over the run of a killed worker, and after it the run is repeated`() async throws
    {
        let (store, debouncer) = try await open()
        for number in 0..<kills {
            let receipt = try await debouncer.submit("\(number)", for: "key")
            let log = self.log + ".\(number)"
            let child = try Child("hold", place.path, log, place.directory + "/no permit")
            var lines = Lines(log)
            try await lines.wait(for: 1)
            try await debouncer.pause(reason: "kill \(number)")
            child.kill()
            // The lease ends, and the other worker looks for work with every submit.
            let other = try Child("work", place.path, self.log + ".work.\(number)", "other")
            for serial in 0..<10 {
                try await debouncer.submit("\(number).\(serial)", for: "other \(serial)")
            }
            try await debouncer.waitUntilFree("key")
            try await debouncer.submit("\(number).10", for: "other 10")
            var worked = Lines(self.log + ".work.\(number)")
            try worked.read()
            #expect(worked.all == [])
            let status = try await debouncer.status()
            #expect(status.running == 1 && status.lostLeases == number && status.pause?.reason == "kill \(number)")
            #expect(try await debouncer.state(of: receipt) == .running(attempt: 1))
            #expect(try await debouncer.resume())
            // Less than a lease: the worker is woken.
            try await drain(debouncer, within: .seconds(4))
            other.kill()
            #expect(try await debouncer.state(of: receipt) == .executed)
            #expect(try await debouncer.status().lostLeases == number + 1)
        }
        await store.close()
        #expect(try integrity() == "ok")
    }

    @Test
    func `handlers that hang, snooze and give up lose nothing and overlap with nothing, however workers die`()
        async throws
    {
        let store = try await SQLiteStore(path: place.path)
        let storm = try await AnswerStorm(on: store, at: place.path, in: place.directory, kills: kills)
        await store.close()
        #expect(try integrity() == "ok")
        print("\(kills) workers killed: \(storm)")
    }

    // MARK: - Parts

    /// Waits until nothing is left to do.
    ///
    /// - Parameter time: Where no worker is killed, less than a lease: a lost run, or a worker that was not woken,
    ///   would show only when a lease ends.
    private func drain(_ debouncer: DurableDebouncer<String, String>, within time: Duration) async throws {
        try await waitUntil(atMost: time) {
            let status = try await debouncer.status()
            #expect(status.dead == 0)
            return status.pending + status.ready + status.running + status.retrying == 0
        }
    }

    /// Returns the result of SQLite's integrity check.
    private func integrity() throws -> String {
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        guard sqlite3_open_v2(place.path, &database, SQLITE_OPEN_READONLY, nil) == SQLITE_OK else {
            return "not opened"
        }
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_prepare_v2(database, "PRAGMA integrity_check", -1, &statement, nil) == SQLITE_OK,
            sqlite3_step(statement) == SQLITE_ROW, let text = sqlite3_column_text(statement, 0)
        else { return "not asked" }
        return String(cString: text)
    }
}
