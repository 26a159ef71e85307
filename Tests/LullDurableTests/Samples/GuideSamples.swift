import Lull
import LullDurable
import LullTesting
import TestSupport
import Testing

// The code of the guides in docs/ that is about work in stores.

@Suite("The samples of the guides about stores")
struct GuideSamples {
    /// A job queue that adds each id once.
    actor JobQueue {
        private(set) var jobs: [String: String] = [:]

        func add(_ job: String, _ argument: String, unique id: String) throws { jobs[id] = "\(job) \(argument)" }
    }

    @Test
    func `a handler that adds a job, under the id of its run`() async throws {
        let (clock, queue) = (ManualClock(), JobQueue())
        let changes = try await DurableDebouncer<String, Int>(
            for: .seconds(2), namespace: "changes", in: MemoryStore(clock: clock), clock: clock)
        let worker = clock.task {
            try await changes.run { execution in
                try await queue.add("reindex", execution.key, unique: "\(execution.runID)")
            }
        }
        for revision in 1...3 { try await changes.submit(revision, for: "a") }
        await clock.advance(by: .seconds(2))
        #expect(await Array(queue.jobs.values) == ["reindex a"])
        worker.cancel()
        try await worker.value
    }
}
