import Foundation
import Lull
import LullDurable
import LullTesting
import TestSupport
import Testing

// The code of the pages of LullDurable; that of its tutorials is in the files beside this one.

nonisolated struct Note: Codable, Sendable, Equatable {
    var id: String
    var text: String
}

nonisolated struct Change: Codable, Sendable {}

struct Refused: Error, CustomStringConvertible {
    let description = "no"
}

/// A server that remembers the run ids that it has received.
actor Server {
    private(set) var notes: [Note] = []
    private(set) var requests: [DurableRun.ID] = []
    var isDown = false

    func put(_ note: Note, named run: DurableRun.ID) throws {
        if isDown { throw Refused() }
        if !requests.contains(run) { notes.append(note) }
        requests.append(run)
    }

    func goDown(_ isDown: Bool) { self.isDown = isDown }
}

@Suite("The samples of LullDurable")
struct DocumentationSamples {
    let clock = ManualClock()
    let server = Server()
    let note = Note(id: "a", text: "b")

    @Test
    func `the first page`() async throws {
        let (store, server, note) = (MemoryStore(), server, note)
        let worker = Task {
            let sync = try await DurableDebouncer<String, Note>(
                for: .seconds(2), maxWait: .seconds(30), namespace: "notes", in: store)

            try await sync.submit(note, for: note.id)

            try await sync.run { execution in
                try await server.put(execution.value, named: execution.runID)
            }
        }
        worker.cancel()
        try await worker.value
    }

    @Test
    func `a user's own test`() async throws {
        let (server, note) = (server, note)
        let clock = ManualClock()
        let store = MemoryStore(clock: clock)
        let sync = try await DurableDebouncer<String, Note>(
            for: .seconds(2), namespace: "notes", in: store, clock: clock)
        let worker = clock.task {
            try await sync.run { execution in try await server.put(execution.value, named: execution.runID) }
        }

        let receipt = try await sync.submit(note, for: note.id)
        await clock.advance(by: .seconds(2))
        #expect(try await sync.state(of: receipt) == .executed)

        worker.cancel()
        try await worker.value
        #expect(await server.notes == [note])
    }

    @Test
    func `monitoring dead and late runs`() async throws {
        let store = MemoryStore(clock: clock)
        let sync = try await DurableDebouncer<String, Int>(for: .seconds(2), namespace: "n", in: store, clock: clock)
        let worker = clock.task {
            try await sync.run(retry: RetryPolicy(maxAttempts: 1), onFailure: { _ in }) { execution in
                if execution.value < 0 { throw Refused() }
            }
        }
        for key in ["a", "b"] { try await sync.submit(-1, for: key) }
        await clock.advance(by: .seconds(2))
        worker.cancel()
        try await worker.value
        try await sync.submit(1, for: "b")
        await clock.advance(by: .seconds(100))

        var lines: [String] = []
        func print(_ line: String) { lines.append(line) }
        let status = try await sync.status()
        if status.dead > 0 || status.oldestDue ?? .zero > .seconds(60) {
            print("\(status.dead) dead, \(status.ready) ready, the oldest for \(status.oldestDue ?? .zero)")
        }
        for run in try await sync.dead() {
            print("\(run.key.map { "\($0)" } ?? "unreadable"): \(run.error ?? "") after \(run.attempts) attempts")
            if try await sync.retry(run.id) == .outdated {
                try await sync.discard(run.id)
            }
        }
        #expect(lines.first == "2 dead, 1 ready, the oldest for 98.0 seconds")
        #expect(lines.dropFirst().sorted() == ["a: no after 1 attempts", "b: no after 1 attempts"])
        #expect(try await sync.status().dead == 0)
        #expect(try await sync.status().retrying == 1)
    }

    private struct Hub {
        let shown = Record<[String: Double]>()
        func show(_ state: [String: Double], of device: String) async throws { shown.add(state) }
    }

    @Test
    func `parts of a value that become one`() async throws {
        let clock = ManualClock()
        let store = MemoryStore(clock: clock)
        let hub = Hub()
        let worker = clock.task {
            let states = try await DurableDebouncer<String, [String: Double]>(
                for: .milliseconds(500), maxWait: .seconds(5),
                combining: .merge { state, part in state.merge(part) { _, new in new } },
                namespace: "states", in: store, clock: clock)

            try await states.submit(["brightness": 80], for: "lamp")
            try await states.submit(["color": 0.3, "brightness": 90], for: "lamp")

            try await states.run { execution in
                try await hub.show(execution.value, of: execution.key)
            }
        }
        await clock.advance(by: .milliseconds(500))
        #expect(hub.shown.all == [["brightness": 90, "color": 0.3]])
        worker.cancel()
        try await worker.value
    }

    @Test
    func `how much one execution gets`() async throws {
        let clock = ManualClock()
        let store = MemoryStore(clock: clock)
        let sync = try await DurableDebouncer<String, Note>(
            collectingFor: .seconds(2), maxBatch: 100, namespace: "sync", in: store)
        for number in 0..<250 { try await sync.submit(Note(id: "a", text: "\(number)"), for: "a") }
        let sizes = Record<Int>()
        let worker = clock.task {
            let worked = try await DurableDebouncer<String, Note>(namespace: "sync", in: store, clock: clock)
            try await worked.run { execution in sizes.add(execution.values.count) }
        }
        await clock.advance(by: .seconds(2))
        #expect(sizes.all == [100, 100, 50])
        worker.cancel()
        try await worker.value
    }

    @Test
    func `one answer to a conversation that goes on`() async throws {
        let clock = ManualClock()
        let store = MemoryStore(clock: clock)
        let (model, chat) = (Model(clock: clock), Chat())
        let worker = clock.task {
            let replies = try await DurableDebouncer<String, String>(
                collectingFor: .seconds(3), maxWait: .seconds(60), whileRunning: .restart,
                namespace: "replies", in: store, clock: clock)

            try await replies.submit("Hello!", for: "kitchen")
            try await replies.touch("kitchen")  // somebody is typing: due later

            try await replies.run { execution in
                let text = try await model.answer(to: execution.values)
                try Task.checkCancellation()
                try await chat.send(text, to: execution.key, named: execution.runID)
            }
        }
        await clock.advance(by: .seconds(5))
        let other = try await DurableDebouncer<String, String>(namespace: "replies", in: store, clock: clock)
        try await other.submit("Are you there?", for: "kitchen")
        await clock.advance(by: .seconds(30))
        #expect(await chat.sent == ["kitchen: an answer to 2 messages"])
        #expect(try await other.status().restarted == 1)
        worker.cancel()
        try await worker.value
    }

    @Test
    func `a service that allows forty calls a minute, five at a time`() async throws {
        let store = MemoryStore()
        let sync = try await DurableDebouncer<String, Change>(
            for: .seconds(2), limit: RateLimit(40, per: .seconds(60), burst: 10), maxRunning: 5,
            namespace: "sync", in: store)
        let rules = try await sync.status().rules
        #expect(rules.limit == RateLimit(40, per: .seconds(60), burst: 10) && rules.maxRunning == 5)
        #expect(try await sync.status().limited == 0)
    }

    @Test
    func `a pause while what the handlers need is down`() async throws {
        let sync = try await DurableDebouncer<String, Int>(for: .seconds(2), namespace: "sync", in: MemoryStore())
        try await sync.pause(reason: "the API moves until 15:00")
        // …
        try await sync.resume()
        #expect(try await sync.status().pause == nil)
        #expect(try await !sync.resume())
    }

    @Test
    func `what a handler says of its run`() async throws {
        let clock = ManualClock()
        let store = MemoryStore(clock: clock)
        let sync = try await DurableDebouncer<String, Int>(for: .zero, namespace: "sync", in: store, clock: clock)
        let server = AnsweringServer()
        let worker = clock.task {
            try await sync.run { execution in
                let response = try await server.offer(execution.value)
                switch response.status {
                case 404, 410: throw GiveUp("\(response.status): there is no document \(execution.key)")
                case 429: throw PauseFor(.seconds(response.retryAfter), because: "429 Too Many Requests")
                case 503: throw RetryAfter(.seconds(response.retryAfter), because: "503 Service Unavailable")
                default: break
                }
            }
        }
        let gone = try await sync.submit(404, for: "gone")
        await clock.advance(by: .zero)
        #expect(try await sync.state(of: gone) == .dead(error: "404: there is no document gone"))
        let away = try await sync.submit(503, for: "away")
        await clock.advance(by: .zero)
        #expect(try await sync.state(of: away) == .waitingForRetry(attempt: 1, error: "503 Service Unavailable"))
        let busy = try await sync.submit(429, for: "busy")
        await clock.advance(by: .zero)
        #expect(try await sync.state(of: busy) == .snoozed(times: 1))
        #expect(try await sync.status().pauseEndsIn == .seconds(30))
        worker.cancel()
        try await worker.value
    }

    @Test
    func `a handler that takes too long`() async throws {
        let clock = ManualClock()
        let store = MemoryStore(clock: clock)
        let sync = try await DurableDebouncer<String, Int>(for: .zero, namespace: "sync", in: store, clock: clock)
        let server = SlowServer(clock: clock)
        let worker = clock.task {
            try await sync.run(timeLimit: .seconds(60)) { execution in
                try await server.put(execution.value, named: execution.runID)
            }
        }
        let receipt = try await sync.submit(1, for: "a")
        await clock.advance(by: .seconds(60))
        let error = "the time limit of 60 s was exceeded"
        #expect(try await sync.state(of: receipt) == .waitingForRetry(attempt: 1, error: error))
        worker.cancel()
        try await worker.value
    }

    @Test
    func `what has failed in an outage is tried again`() async throws {
        let clock = ManualClock()
        let sync = try await DurableDebouncer<String, Int>(
            for: .zero, namespace: "sync", in: MemoryStore(clock: clock), clock: clock)
        let isBack = Guarded(false)
        let worker = clock.task {
            try await sync.run(retry: RetryPolicy(initialDelay: .seconds(3600), maxDelay: .seconds(3600))) {
                execution in
                if !isBack.value { throw Outage() }
            }
        }
        for key in ["eu/1", "eu/2", "us/1"] { try await sync.submit(1, for: key) }
        await clock.advance(by: .seconds(600))
        isBack.change { $0 = true }

        let broken = DurableSelection(prefix: "eu/", olderThan: .seconds(600), error: "503")
        let found = try await sync.count(matching: broken)
        print("\(found.flushable) keys wait for another attempt, \(found.dead) runs are dead")

        try await sync.flush(matching: broken)
        let retries = try await sync.retry(matching: broken)
        print("\(retries[.accepted] ?? 0) retried, \(retries[.outdated] ?? 0) have newer values")

        #expect(found.flushable == 2 && found.dead == 0)
        await clock.advance(by: .zero)
        #expect(try await sync.status().retrying == 1)
        worker.cancel()
        try await worker.value
    }

    struct Outage: Error, CustomStringConvertible {
        let description = "HTTP 503"
    }

    struct Model {
        let clock: ManualClock

        func answer(to messages: [String]) async throws -> String {
            try await clock.sleep(for: .seconds(10))
            return "an answer to \(messages.count) messages"
        }
    }

    actor Chat {
        private(set) var sent: [String] = []

        func send(_ text: String, to room: String, named run: DurableRun.ID) throws { sent.append("\(room): \(text)") }
    }
}

/// A server whose answer has the status that it is sent.
private struct AnsweringServer {
    func offer(_ status: Int) async throws -> (status: Int, retryAfter: Int) { (status, 30) }
}

/// A server that takes its time.
private struct SlowServer {
    let clock: ManualClock

    func put(_ value: Int, named run: DurableRun.ID) async throws { try await clock.sleep(for: .seconds(600)) }
}
