import LullDurable
import LullTesting
import TestSupport
import Testing

nonisolated struct Order: Codable, Sendable {
    var id: Int
    var status: String
}

struct OrderMails: Service {
    let mails: DurableDebouncer<Int, Order>
    let mailer: Mailer
    let logger: Logger

    /// Called by the `ServiceGroup`. Returns after a graceful shutdown.
    func run() async throws {
        try await cancelWhenGracefulShutdown {
            try await mails.run(grace: .seconds(10), onFailure: { report($0) }) { execution in
                try await mailer.send(execution.value, named: execution.runID, traceparent: execution.context)
            }
        }
    }

    private func report(_ failure: DurableFailure) {
        switch failure {
        case .threw(_, let run, retryIn: _?):
            logger.warning("\(failure)", metadata: ["run": "\(run.id)", "traceparent": "\(run.context ?? "")"])
        default:
            logger.error("\(failure)")
        }
    }
}

struct OrderMailMetrics: Service {
    let mails: DurableDebouncer<Int, Order>
    let logger: Logger
    var clock: any Clock<Duration> = ContinuousClock()

    func run() async throws {
        await cancelWhenGracefulShutdown {
            let attempts = Counter(label: "order_mails_attempts")
            let failures = Counter(label: "order_mails_failures")
            let pending = Gauge(label: "order_mails_pending")
            let dead = Gauge(label: "order_mails_dead")
            let oldestDue = Gauge(label: "order_mails_oldest_due_seconds")
            var counted = DurableCounters()
            while !Task.isCancelled {
                let counters = mails.counters
                attempts.increment(by: counters.attempts - counted.attempts)
                failures.increment(by: counters.failures - counted.failures)
                counted = counters
                do {
                    let status = try await mails.status()
                    pending.record(status.pending)
                    dead.record(status.dead)
                    oldestDue.record((status.oldestDue ?? .zero) / .seconds(1))
                } catch {
                    logger.warning("there is no status: \(error)")
                }
                try? await clock.sleep(for: .seconds(15))
            }
        }
    }
}

struct OrderRoute: Sendable {
    let mails: DurableDebouncer<Int, Order>

    func orderChanged(_ order: Order, headers: [String: String]) async throws {
        try await mails.submit(order, for: order.id, context: headers["traceparent"])
    }
}

/// Sends mails; the first attempt at an order that is marked so fails.
actor Mailer {
    private(set) var sent: [String] = []
    private var failed: Set<DurableRun.ID> = []

    func send(_ order: Order, named run: DurableRun.ID, traceparent: String?) async throws {
        if order.status == "unlucky", failed.insert(run).inserted { throw Stale() }
        sent.append("\(order.id) \(order.status): \(traceparent ?? "-")")
    }
}

@Suite("The samples of the page on servers")
struct ServerSamples {
    let clock = ManualClock()
    let log = Record<String>()
    let metrics = Record<String>()

    @Test
    func `a worker is a service that shuts down gracefully, logs its failures and carries the trace`() async throws {
        let store = MemoryStore(clock: clock)
        let logger = Logger(label: "shop", record: log)
        let mailer = Mailer()
        let mails = try await DurableDebouncer<Int, Order>(
            for: .seconds(10), namespace: "order-mails", in: store, clock: clock)
        let route = OrderRoute(mails: mails)
        let group = ServiceGroup(
            services: [
                OrderMails(mails: mails, mailer: mailer, logger: logger),
                OrderMailMetrics(mails: mails, logger: logger, clock: clock),
            ],
            gracefulShutdownSignals: [.sigterm], logger: logger)
        let running = clock.task { [metrics] in try await Metrics.$record.withValue(metrics) { try await group.run() } }
        try await route.orderChanged(Order(id: 1, status: "new"), headers: ["traceparent": "00-first-01"])
        try await route.orderChanged(Order(id: 1, status: "unlucky"), headers: ["traceparent": "00-second-01"])
        try await route.orderChanged(Order(id: 2, status: "packed"), headers: [:])
        await clock.advance(by: .seconds(10))
        #expect(await mailer.sent == ["2 packed: -"])
        #expect(log.all.count == 1)
        #expect(log.all.first?.hasPrefix("warning: attempt 1 of run ") == true)
        #expect(log.all.first?.hasSuffix(" traceparent=00-second-01") == true)
        await clock.advance(by: .seconds(5))
        #expect(await mailer.sent == ["2 packed: -", "1 unlucky: 00-second-01"])
        #expect(metrics.all.contains("order_mails_attempts +3") && metrics.all.contains("order_mails_failures +1"))
        #expect(metrics.all.contains("order_mails_pending 0") && metrics.all.contains("order_mails_dead 0"))
        #expect(metrics.all.contains("order_mails_oldest_due_seconds 0.0"))

        await group.triggerGracefulShutdown()
        try await running.value
        try await route.orderChanged(Order(id: 3, status: "late"), headers: [:])
        await clock.advance(by: .seconds(60))
        #expect(await mailer.sent.count == 2)
        await store.close()
    }
}
