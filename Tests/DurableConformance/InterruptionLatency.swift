internal import LullCore
package import LullDurable
internal import Lull
internal import LullReference
internal import TestSupport
internal import Testing

/// How soon an interruption reaches the handler of a worker whose store is not the producer's: as between processes.
package enum InterruptionLatency {
    private struct Interruption {
        var started: ContinuousClock.Instant?
        var cancelled: ContinuousClock.Instant?
    }

    /// Interrupts the runs of one store by another one, and closes both.
    ///
    /// `LULL_INTERRUPTIONS` sets their number, `LULL_LATENCY` the milliseconds that 99 of 100 take at most: 100 on a
    /// machine that does nothing else.
    package static func check(worker: any StoreCalls, producer: any StoreCalls) async throws {
        let count = environment("LULL_INTERRUPTIONS", default: 10)
        let times = try await measure(worker: worker, producer: producer, count: count)
        let most = times[count * 99 / 100]
        print("\(count) interruptions: p50 \(times[count / 2]), p99 \(most)")
        #expect(most < .milliseconds(environment("LULL_LATENCY", default: 1000)))
        await worker.close()
        await producer.close()
    }

    /// Interrupts runs, one after the other, and measures how long that takes, from the return of the submit on.
    ///
    /// - Returns: The times, the shortest first.
    private static func measure(
        worker: any StoreCalls, producer: any StoreCalls, count: Int
    ) async throws -> [Duration] {
        let make = { (store: any StoreCalls) async throws in
            try await DurableDebouncer<String, Int>(
                collectingFor: .milliseconds(20), whileRunning: .restart(interrupting: .whenSubmitted),
                namespace: "latency", in: store)
        }
        let (submitting, working) = (try await make(producer), try await make(worker))
        let seen = Guarded<[String: Interruption]>([:])
        // With a lease as long as this no heartbeat helps.
        let work = Task {
            try await working.run(lease: .seconds(600), grace: .seconds(1)) { execution in
                guard execution.values.count == 1 else { return }
                seen.change { $0[execution.key, default: Interruption()].started = .now }
                do { try await Task.sleep(for: .seconds(60)) } catch {
                    seen.change { $0[execution.key]?.cancelled = .now }
                    throw error
                }
            }
        }
        defer { work.cancel() }
        var random = SplitMix(seed: 1)
        var times: [Duration] = []
        for number in 0..<count {
            let key = "\(number)"
            try await submitting.submit(1, for: key)
            try await waitUntil { seen.value[key]?.started != nil }
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...100, using: &random)))
            let receipt = try await submitting.submit(2, for: key)
            let start = ContinuousClock.now
            var end: ContinuousClock.Instant?
            try await waitUntil {
                end = seen.value[key]?.cancelled
                return end != nil
            }
            times.append(max(.zero, (end ?? start) - start))
            _ = try await submitting.wait(for: receipt, atMost: .seconds(30))
        }
        return times.sorted()
    }
}
