import DurableConformance
import LullDurable
import LullReference
import LullPostgres
import TestSupport
import Testing

/// Interruptions that come from another process.
///
/// `LULL_INTERRUPTIONS` sets their number, `LULL_LATENCY` the milliseconds that 99 of 100 take at most: 100 on a
/// machine that does nothing else.
@Suite("Interruptions through PostgreSQL", .onServer, .ownThreads)
struct PostgresInterruptionTests {
    private let count = environment("LULL_INTERRUPTIONS", default: 20)
    private let most = environment("LULL_LATENCY", default: 1000)

    @Test
    func `an interruption reaches the handler of another process by a hint, long before a heartbeat`() async throws {
        let place = SchemaPlace()
        let url = try place.url()
        let worker = try await PostgresStore(url: url)
        let producer = try await PostgresStore(url: url)
        let times = try await InterruptionLatency.measure(worker: worker, producer: producer, count: count)
        print(InterruptionLatency.text(times))
        #expect(times[count * 99 / 100] < .milliseconds(most))
        await worker.close()
        await producer.close()
    }
}
