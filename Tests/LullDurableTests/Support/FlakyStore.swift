import Lull
import LullCore
import LullDurable

/// A store with failures that the test injects before or after a call.
struct FlakyStore: DurableStore {
    enum Fault: Sendable {
        /// The call is not made.
        case before(DurableError)
        /// The call is made, and its answer is lost.
        case after(DurableError)
    }

    enum Call: Sendable {
        case submit(DurableSubmission)
        case claim(DurableClaim)
        case report(DurableReport)
    }

    let base: any DurableStore
    /// Whether workers learn of interruptions by their heartbeats alone.
    let isDeaf = Guarded(false)
    /// The failure of a call, if any.
    let fault: Guarded<@Sendable (Call) -> Fault?>

    init(_ base: any DurableStore) {
        self.base = base
        fault = Guarded { _ in nil }
    }

    func fails(_ fault: @escaping @Sendable (Call) -> Fault?) {
        _ = self.fault.exchange(fault)
    }

    func works() {
        _ = fault.exchange { _ in nil }
    }

    private func with<Result: Sendable>(
        _ call: Call, _ body: () async throws(DurableError) -> Result
    ) async throws(DurableError) -> Result {
        switch fault.value(call) {
        case .before(let error): throw error
        case .after(let error):
            _ = try await body()
            throw error
        case nil: return try await body()
        }
    }

    func submit(_ submission: DurableSubmission) async throws(DurableError) -> DurableReceipt {
        try await with(.submit(submission)) { () async throws(DurableError) in try await base.submit(submission) }
    }

    func claim(_ claim: DurableClaim) async throws(DurableError) -> DurableClaim.Answer {
        try await with(.claim(claim)) { () async throws(DurableError) in try await base.claim(claim) }
    }

    func report(_ report: DurableReport) async throws(DurableError) -> DurableReport.Answer {
        try await with(.report(report)) { () async throws(DurableError) in try await base.report(report) }
    }

    func open(_ namespace: String, _ rules: DurableRules?) async throws(DurableError) -> DurableRules {
        try await base.open(namespace, rules)
    }
    func touch(_ key: [UInt8], in namespace: String, wait: CoreDuration?) async throws(DurableError) -> Bool {
        try await base.touch(key, in: namespace, wait: wait)
    }
    func interruptions(
        of worker: Int64, besides known: [Int64], in namespace: String, atMost time: Duration
    ) async throws(DurableError) -> [Int64] {
        if isDeaf.value { return try await base.interruptions(of: -1, besides: [], in: namespace, atMost: time) }
        return try await base.interruptions(of: worker, besides: known, in: namespace, atMost: time)
    }
    func flush(_ key: [UInt8]?, in namespace: String) async throws(DurableError) -> Int {
        try await base.flush(key, in: namespace)
    }
    func cancel(_ key: [UInt8]?, in namespace: String) async throws(DurableError) -> Int {
        try await base.cancel(key, in: namespace)
    }
    func flush(matching selection: DurableSelection, in namespace: String) async throws(DurableError) -> Int {
        try await base.flush(matching: selection, in: namespace)
    }
    func cancel(matching selection: DurableSelection, in namespace: String) async throws(DurableError) -> Int {
        try await base.cancel(matching: selection, in: namespace)
    }
    func count(
        matching selection: DurableSelection, in namespace: String
    ) async throws(DurableError) -> DurableSelectionCount {
        try await base.count(matching: selection, in: namespace)
    }
    func deadRuns(
        matching selection: DurableSelection, in namespace: String
    ) async throws(DurableError) -> [Int64] {
        try await base.deadRuns(matching: selection, in: namespace)
    }
    func flush(
        submittedBy submitter: Int64, in namespace: String
    ) async throws(DurableError) -> (flushed: [(key: [UInt8], generation: Int64)], mixed: Int) {
        try await base.flush(submittedBy: submitter, in: namespace)
    }
    func cancel(
        submittedBy submitter: Int64, in namespace: String
    ) async throws(DurableError) -> (cancelled: Int, mixed: Int) {
        try await base.cancel(submittedBy: submitter, in: namespace)
    }
    func wait(in namespace: String, after mark: Int64, atMost time: Duration) async throws(DurableError) {
        try await base.wait(in: namespace, after: mark, atMost: time)
    }
    func state(of receipt: DurableReceipt) async throws(DurableError) -> DurableState {
        try await base.state(of: receipt)
    }
    func announce(_ worker: DurableWorker.Identity, in namespace: String) async throws(DurableError) {
        try await base.announce(worker, in: namespace)
    }

    func workers(in namespace: String) async throws(DurableError) -> [DurableWorker] {
        try await base.workers(in: namespace)
    }

    func status() async throws(DurableError) -> [DurableStatus] { try await base.status() }
    func list(
        in namespace: String, prefix: [UInt8], limit: Int
    ) async throws(DurableError) -> [DurableListing<[UInt8]>] {
        try await base.list(in: namespace, prefix: prefix, limit: limit)
    }
    func ended(
        of key: [UInt8]?, in namespace: String, limit: Int
    ) async throws(DurableError) -> [DurableEnd<[UInt8]>] {
        try await base.ended(of: key, in: namespace, limit: limit)
    }

    func dead(in namespace: String, limit: Int) async throws(DurableError) -> [DurableDeadRun<[UInt8]>] {
        try await base.dead(in: namespace, limit: limit)
    }
    func retry(_ run: Int64, in namespace: String) async throws(DurableError) -> DurableRetry {
        try await base.retry(run, in: namespace)
    }
    func discard(_ run: Int64, in namespace: String) async throws(DurableError) -> Bool {
        try await base.discard(run, in: namespace)
    }
    func pause(_ namespace: String, reason: String?) async throws(DurableError) -> DurablePause {
        try await base.pause(namespace, reason: reason)
    }
    func resume(_ namespace: String) async throws(DurableError) -> Bool { try await base.resume(namespace) }
    func forget(_ namespace: String) async throws(DurableError) { try await base.forget(namespace) }
    func close() async { await base.close() }
}
