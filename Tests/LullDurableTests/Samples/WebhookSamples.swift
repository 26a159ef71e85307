import Foundation
import Lull
import LullDurable
import LullTesting
import TestSupport
import Testing

nonisolated struct Push: Codable, Sendable {
    var commit: String
}

struct Stale: Error {}

struct Builds: Sendable {
    private let builds: DurableDebouncer<String, Push>
    private let builder: Builder

    init(store: any DurableStore, builder: Builder, clock: any Clock<Duration> = ContinuousClock()) async throws {
        builds = try await DurableDebouncer(
            for: .seconds(10), maxWait: .seconds(60), namespace: "builds", in: store, clock: clock)
        self.builder = builder
    }

    /// Returns the status for the sender, which repeats a delivery under the same name until it receives a 202.
    func receive(_ push: Push, from repository: String, delivery: String) async -> Int {
        do {
            try await builds.submit(push, for: repository, token: delivery)
            return 202
        } catch .tooLarge {
            return 413
        } catch {
            return 503
        }
    }

    /// Runs on each machine until the task is cancelled.
    func work() async throws {
        try await builds.run(maxConcurrent: 4, lease: .seconds(60), grace: .seconds(20)) { execution in
            try await builder.build(
                execution.key, at: execution.value.commit, named: execution.runID, fence: execution.fence)
        }
    }
}

actor Builder {
    private(set) var published: [String: String] = [:]
    private var fences: [String: Int64] = [:]

    func build(_ repository: String, at commit: String, named run: DurableRun.ID, fence: Int64) async throws {
        guard fence >= fences[repository, default: 0] else { throw Stale() }
        fences[repository] = fence
        published[repository] = commit
    }
}

@Suite("The samples of the page on webhooks")
struct WebhookSamples {
    let clock = ManualClock()

    @Test
    func `pushes to any machine are one build by some machine, each delivery counting once`() async throws {
        let store = MemoryStore(clock: clock)
        let builder = Builder()
        var machines: [Builds] = []
        for _ in 0..<3 { machines.append(try await Builds(store: store, builder: builder, clock: clock)) }
        let workers = machines.map { machine in clock.task { try await machine.work() } }
        for number in 0..<12 {
            let push = Push(commit: "commit \(number)")
            #expect(await machines[number % 3].receive(push, from: "lull", delivery: "\(number)") == 202)
        }
        // Delivered again, to another machine: it is not the newest.
        #expect(await machines[1].receive(Push(commit: "commit 0"), from: "lull", delivery: "0") == 202)
        let large = Push(commit: String(repeating: "x", count: 2 << 20))
        #expect(await machines[0].receive(large, from: "lull", delivery: "large") == 413)
        await clock.advance(by: .seconds(9))
        #expect(await builder.published == [:])
        await clock.advance(by: .seconds(1))
        #expect(await builder.published == ["lull": "commit 11"])
        for worker in workers {
            worker.cancel()
            try await worker.value
        }
        await store.close()
        #expect(await machines[0].receive(Push(commit: "late"), from: "lull", delivery: "late") == 503)
    }

    @Test
    func `the builder refuses an older fence`() async throws {
        let builder = Builder()
        try await builder.build("lull", at: "new", named: DurableRun.ID(rawValue: 2), fence: 5)
        await #expect(throws: Stale.self) {
            try await builder.build("lull", at: "old", named: DurableRun.ID(rawValue: 1), fence: 4)
        }
        #expect(await builder.published == ["lull": "new"])
    }
}
