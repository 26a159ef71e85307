import Foundation
import Lull
import LullCore
import LullDurable
import LullReference
import LullSQLite
import Testing
import TestSupport

/// Processes that are killed while their runs are interrupted, and processes whose reports come late.
///
/// `LULL_KILLS` sets the number of kills, `LULL_SEED` chooses other moments.
@Suite("Kills of interrupted workers", .ownThreads, .serialized)
struct RestartKillTests {
    private let place: Place
    private let kills = environment("LULL_KILLS", default: 3)
    private let seed = environment("LULL_SEED", default: UInt64(7))

    init() throws {
        place = try Place()
    }

    private var log: String { place.directory + "/log" }

    private func open() async throws -> (SQLiteStore, DurableDebouncer<String, String>) {
        let store = try await SQLiteStore(path: place.path)
        let debouncer = try await DurableDebouncer<String, String>(
            collectingFor: .milliseconds(5), whileRunning: .restart(interrupting: .whenSubmitted),
            namespace: "kill", in: store)
        return (store, debouncer)
    }

    @Test
    func `what a worker has that is killed while its run is interrupted goes back, and every submit is completed once`()
        async throws
    {
        let (store, debouncer) = try await open()
        let receipts = Record<DurableReceipt>()
        let submitting = Task {
            var random = SplitMix(seed: seed)
            for serial in 0... {
                let key = "\(Int.random(in: 0..<20, using: &random))"
                receipts.add(try await debouncer.submit("\(serial)", for: key))
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...6, using: &random)))
            }
        }
        var lines = Lines(log)
        var interruptions = 0
        for number in 0..<kills {
            let child = try Child("restart", place.path, log, "\(number)")
            // The handler is still there: it takes a while to end.
            while !lines.all.contains(where: { $0.hasPrefix("interrupted \(number) ") }) {
                try await lines.wait(for: lines.all.count + 1)
            }
            child.kill()
            try lines.read()
            interruptions = lines.all.count { $0.hasPrefix("interrupted ") }
        }
        submitting.cancel()
        _ = await submitting.result
        let last = try Child("restart", place.path, log, "\(kills)")
        try await waitUntil { try await !debouncer.status().hasAnything }
        last.kill()

        for receipt in receipts.all { #expect(try await debouncer.state(of: receipt) == .executed, "\(receipt)") }
        let status = try await debouncer.status()
        #expect(status.restarted >= kills && status.dead == 0)
        // The completed ranges of each key have no gap and no overlap.
        let ended = try await debouncer.ended(limit: 1_000_000)
        for (key, ends) in Dictionary(grouping: ended, by: \.key) {
            #expect(ends.allSatisfy { $0.how == .completed })
            let ranges = ends.map(\.submits).sorted { $0.lowerBound < $1.lowerBound }
            let submits = receipts.all.filter { $0.key == key?.durableBytes }.map(\.generation)
            #expect(ranges.first?.contains(submits.min() ?? 0) == true)
            for submit in submits { #expect(ranges.count { $0.contains(submit) } == 1) }
        }
        await store.close()
        print(
            "\(kills) workers killed while a run was interrupted: \(receipts.all.count) submits, \(interruptions) "
                + "interruptions, \(status.restarted) put back, \(ended.count) completed runs, all submits "
                + "completed once")
    }

    /// Stops a process that has a run beyond its lease, interrupts the run, and lets the process send reports.
    ///
    /// - Returns: The answers, and the values of what can be claimed after them.
    private func late(
        _ reports: String, takingOver isTaken: Bool = false, _ number: Int
    ) async throws -> (answers: [String], runs: [[String]]) {
        let (store, debouncer) = try await open()
        let log = self.log + ".\(number)"
        let permit = place.directory + "/permit.\(number)"
        try await debouncer.submit("a", for: "key")
        let child = try Child("hold", place.path, log, permit)
        var lines = Lines(log)
        try await lines.wait(for: 1)
        child.signal(SIGSTOP)
        try await debouncer.submit("b", for: "key")
        try await debouncer.waitUntilFree("key")
        var runs: [DurableRun] = []
        let claim = DurableClaim(
            namespace: "kill", terms: DurableClaim.Terms(owner: 0, lease: .seconds(60), maxAttempts: 1), limit: 10)
        if isTaken { runs = try await store.claim(claim).runs }
        try Data(reports.utf8).write(to: URL(fileURLWithPath: permit))
        child.signal(SIGCONT)
        child.wait()
        try lines.read()
        if !isTaken { runs = try await store.claim(claim).runs }
        let values = runs.map { $0.values.map { String(decoding: $0, as: UTF8.self) } }
        for run in runs {
            let report = DurableReport(
                namespace: "kill", key: run.key, run: run.number, fence: run.fence, owner: 0, .completed)
            #expect(try await store.report(report) == .accepted)
        }
        #expect(try await !debouncer.status().hasAnything)
        await store.close()
        return (lines.all.dropFirst().map { String($0.dropFirst("answer ".count)) }, values)
    }

    @Test
    func `a heartbeat that is late learns of the interruption, and the values go back with the report`() async throws {
        let found = try await late("heartbeat interrupted", 0)
        #expect(found.answers == ["interrupted", "accepted"] && found.runs == [["\"a\"", "\"b\""]])
    }

    @Test
    func `a heartbeat that comes when another worker has the values has lost its lease`() async throws {
        let found = try await late("heartbeat interrupted", takingOver: true, 0)
        #expect(found.answers == ["leaseLost", "leaseLost"] && found.runs == [["\"a\"", "\"b\""]])
    }

    @Test
    func `an interruption that crosses a completion: the run is completed, and the newer value is a run of its own`()
        async throws
    {
        let found = try await late("completed", 0)
        #expect(found.answers == ["accepted"] && found.runs == [["\"b\""]])
    }
}

extension DurableStatus {
    /// Whether anything is left to do.
    fileprivate var hasAnything: Bool { pending + ready + running + retrying > 0 }
}
