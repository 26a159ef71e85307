import Lull
import LullCore
import LullDurable

/// A store with failures that the test injects before or after a call.
struct FlakyStore: RowStore {
    typealias Table = MemoryTable

    enum Fault: Sendable {
        /// The call is not made.
        case before(DurableError)
        /// The call is made, and its answer is lost.
        case after(DurableError)
        /// The call is made, and its answer comes when this has ended.
        case late(@Sendable () async -> Void)
    }

    enum Call: Sendable {
        case submit(DurableSubmission)
        case claim(DurableClaim)
        case report(DurableReport)
        case pause(String)
    }

    let base: MemoryStore
    /// The failure of a call, if any.
    let fault: Guarded<@Sendable (Call) -> Fault?>

    init(_ base: MemoryStore) {
        self.base = base
        fault = Guarded { _ in nil }
    }

    func fails(_ fault: @escaping @Sendable (Call) -> Fault?) {
        _ = self.fault.exchange(fault)
    }

    func works() {
        _ = fault.exchange { _ in nil }
    }

    private func with<Answer: Sendable>(
        _ call: Call, _ body: () async throws(DurableError) -> Answer
    ) async throws(DurableError) -> Answer {
        switch fault.value(call) {
        case .before(let error): throw error
        case .after(let error):
            _ = try await body()
            throw error
        case .late(let wait):
            let result = try await body()
            await wait()
            return result
        case nil: return try await body()
        }
    }

    func pause(
        _ namespace: String, reason: String?, for time: CoreDuration?
    ) async throws(DurableError) -> DurablePause {
        try await with(.pause(namespace)) { () async throws(DurableError) in
            try await base.pause(namespace, reason: reason, for: time)
        }
    }

    func submit(
        _ batch: [DurableSubmission]
    ) async throws(DurableError) -> [Result<DurableReceipt, DurableError>] {
        var answers: [Result<DurableReceipt, DurableError>] = []
        for submission in batch {
            do throws(DurableError) {
                answers.append(
                    .success(
                        try await with(.submit(submission)) { () async throws(DurableError) in
                            try await base.submit(submission)
                        }))
            } catch {
                answers.append(.failure(error))
            }
        }
        return answers
    }

    /// Makes the calls one by one, so that each can fail by itself.
    func exchange(_ reports: [DurableReport], _ claim: DurableClaim?) async -> DurableExchange {
        var exchange = DurableExchange(reports: [], claim: nil)
        for report in reports {
            do throws(DurableError) {
                exchange.reports.append(
                    .success(
                        try await with(.report(report)) { () async throws(DurableError) in
                            try await base.report(report)
                        }))
            } catch {
                exchange.reports.append(.failure(error))
            }
        }
        guard let claim else { return exchange }
        do throws(DurableError) {
            exchange.claim = .success(
                try await with(.claim(claim)) { () async throws(DurableError) in try await base.claim(claim) })
        } catch {
            exchange.claim = .failure(error)
        }
        return exchange
    }

    func interruptions(
        of worker: Int64, besides known: [Int64], in namespace: String, atMost time: Duration
    ) async throws(DurableError) -> [Int64] {
        try await base.interruptions(of: worker, besides: known, in: namespace, atMost: time)
    }

    // MARK: - All others as they are

    func step<Raw: Sendable, Answer: Sendable>(
        _ access: StepAccess, _ body: @escaping @Sendable (inout MemoryTable) throws(DurableError) -> Raw,
        then finish: @escaping @Sendable (Raw, inout WakeSignal) -> Answer
    ) async throws(DurableError) -> Answer {
        try await base.step(access, body, then: finish)
    }

    func waitForSignal(
        _ subject: WakeSignal.Subject, in namespace: String, after mark: Int64, atMost time: Duration
    ) async throws(DurableError) {
        try await base.waitForSignal(subject, in: namespace, after: mark, atMost: time)
    }

    func close() async { await base.close() }
}
