import Foundation
import Lull
import LullCore
import LullDurable
import Testing

/// What a program prints of the answers that it gets.
@Suite struct DescriptionTests {
    private struct Away: Error, CustomStringConvertible {
        let description = "the server is away"
    }

    private let fixture = WorkerFixture()

    @Test func `a receipt names its key, and says when the value falls due`() async throws {
        let receipt = try await fixture.debouncer().submit(1, for: "lamp")
        #expect("\(receipt)" == "submit 1 of key lamp in n, due in 2 s")
        let leading = try await DurableDebouncer<Int, Int>(
            for: .seconds(2), edges: .leading, namespace: "l", in: fixture.store, clock: fixture.clock)
        let receipts = [try await leading.submit(1, for: 7), try await leading.submit(2, for: 7)]
        #expect(
            receipts.map { "\($0)" } == ["submit 1 of key 7 in l, due at once", "submit 2 of key 7 in l, absorbed"])
    }

    @Test func `every state has a text, with its error`() {
        let states: [DurableState] = [
            .pending, .ready, .running(attempt: 2), .waitingForRetry(attempt: 2, error: "no"), .snoozed(times: 1),
            .executed,
            .failed(error: "no"), .cancelled, .absorbed, .dead(error: nil), .forgotten,
        ]
        #expect(
            states.map { "\($0)" } == [
                "pending", "ready", "running, attempt 2", "waiting for a retry after attempt 2: no",
                "snoozed, 1 time so far", "executed",
                "failed: no", "cancelled", "absorbed", "dead", "forgotten",
            ])
    }

    @Test func `an alert shows the text of an error`() {
        let error: any Error = DurableError.refused("the server is away")
        #expect(error.localizedDescription == "not recorded: the server is away")
    }

    @Test func `what is listed is readable`() async throws {
        let sync = try await fixture.debouncer()
        #expect("\(try await sync.status())" == "n: no work")
        for key in ["a", "b"] { try await sync.submit(1, for: key) }
        await fixture.advance(0.5)
        #expect(
            try await sync.list().map { "\($0)" } == [
                "key a: 1 submit pending, due in 1.5 s", "key b: 1 submit pending, due in 1.5 s",
            ])
        #expect("\(try await sync.count(matching: .all))" == "2 keys to flush, 2 to cancel, 0 dead runs")
        try await sync.flush("a")
        await fixture.advance(3)
        #expect("\(try await sync.status())" == "n: 2 keys ready, the oldest due for 3 s")
        try await sync.pause(reason: "the disk is full")
        #expect("\(try await sync.status())".hasSuffix("; paused: the disk is full"))
        try await sync.resume()
        let worker = fixture.work(sync) { execution in
            if execution.key == "a" { throw Away() }
            #expect("\(execution)" == "run \(execution.runID) (key b), attempt 1")
        }
        await fixture.advance(10)
        let workers = try await sync.workers()
        #expect(workers.map { "\($0)".hasSuffix("): 0 runs, seen 10 s ago") } == [true], "\(workers)")
        worker.cancel()
        _ = await worker.result
        let dead = try #require(try await sync.dead().first)
        #expect("\(dead)".hasPrefix("run \(dead.id) (key a), dead for "))
        #expect("\(dead)".hasSuffix(" after attempt 3: the server is away"))
        let ended = try await sync.ended().map { "\($0)" }
        let text = ended.joined(separator: "\n")
        #expect(text.contains("submit 1 of key b, run ") && text.contains(" ago: executed"), "\(text)")
        #expect(text.contains(", run \(dead.id), ") && text.contains(" ago: dead: the server is away"), "\(text)")
        #expect("\(sync.counters)" == "4 attempts, 3 failures, 0 lost leases, 0 restarts")
        let foreign = try await DurableDebouncer<Int, Int>(namespace: "n", in: fixture.store, clock: fixture.clock)
        #expect("\(try #require(try await foreign.dead().first))".hasPrefix("run \(dead.id) (key of another type)"))
    }

    @Test func `a policy names its settings`() async throws {
        let sync = try await fixture.debouncer()
        #expect(
            "\(try await sync.status().rules)"
                == """
                kind: debounce, wait: 2 s, edges: trailing, delayRule: restart, combining: latest, \
                whileRunning: queue
                """
        )
    }

    @Test func `the id of a run is a number in texts and in JSON`() throws {
        let id = DurableRun.ID(rawValue: 12)
        #expect("\(id)" == "12")
        #expect(String(decoding: try JSONEncoder().encode([id]), as: UTF8.self) == "[12]")
        #expect(try JSONDecoder().decode([DurableRun.ID].self, from: Data("[12]".utf8)) == [id])
    }
}
