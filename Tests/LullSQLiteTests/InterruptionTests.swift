import DurableConformance
import LullDurable
import LullReference
import LullSQLite
import TestSupport
import Testing

/// Interruptions that come from another process.
///
/// `LULL_INTERRUPTIONS` sets their number, `LULL_LATENCY` the milliseconds that 99 of 100 take at most: 100 on a
/// machine that does nothing else.
@Suite("Interruptions through files", .ownThreads)
struct FileInterruptionTests {
    private let count = environment("LULL_INTERRUPTIONS", default: 20)
    private let most = environment("LULL_LATENCY", default: 1000)

    @Test
    func `an interruption reaches the handler of another process by a hint, long before a heartbeat`() async throws {
        let place = try Place()
        let worker = try await SQLiteStore(path: place.path)
        let producer = try await SQLiteStore(path: place.path)
        let times = try await InterruptionLatency.measure(worker: worker, producer: producer, count: count)
        print(InterruptionLatency.text(times))
        #expect(times[count * 99 / 100] < .milliseconds(most))
        await worker.close()
        await producer.close()
    }
}
