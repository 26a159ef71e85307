package import Lull
package import LullCore

/// A store on a server: what the calls of its workers are made of.
///
/// It talks to the server from a ``StoreThread``.
package protocol ServerStore: StoreCalls {
    /// What the store knows beside what all stores do.
    associatedtype Known: Sendable

    var connections: any ServerConnections { get }
    var options: ServerOptions { get }
    var state: Guarded<ServerState<Known>> { get }

    /// Looks for interrupted runs of a worker.
    ///
    /// - Returns: The runs, and when another one may be interrupted if nothing is submitted.
    func lookAtRuns(
        of worker: Int64, in namespace: String
    ) async throws(DurableError) -> (interrupted: [Int64], next: Duration?)

    /// Makes the calls of one worker in one namespace.
    func exchange(
        _ reports: [DurableReport], _ claim: DurableClaim?, by owner: Int64, in namespace: String
    ) async -> DurableExchange

    /// Forgets a little if that is due: every ten seconds, and sooner while there is more. Callers do not wait for it,
    /// except in tests.
    func forgetSome() async
}

/// What a store on a server needs beside its URL.
package struct ServerOptions: Sendable {
    package var limits: DurableLimits
    /// How long a call waits for the server.
    package var timeLimit: Duration
    /// Whether workers listen to the hints of other processes.
    package var listens = true
    /// The time in place of the server's, for tests.
    package var now: (@Sendable () -> CoreInstant)?
    /// The clock by which workers wait.
    package var clock = StoreClock.system

    /// - Parameter timeLimit: At least a second counts.
    package init(limits: DurableLimits = DurableLimits(), timeLimit: Duration = .seconds(30)) {
        self.limits = limits
        self.timeLimit = max(timeLimit, .seconds(1))
    }

    /// The instant in place of the server's, in microseconds.
    package var microseconds: Int64? { now.map { $0().microseconds } }
    /// How long opening a store takes at most: a wrong password should not take as long as a server that restarts.
    package var openingTime: Duration { min(timeLimit, .seconds(5)) }
}

/// What a store on a server knows in this process.
package struct ServerState<Known: Sendable>: WakingState {
    package var wakeSignal = WakeSignal()
    /// When to forget next.
    fileprivate var nextForgetting = ContinuousClock.Instant.now
    /// The rules with which this store has opened namespaces.
    package var rules: [String: DurableRules] = [:]
    /// The namespaces that had a limit when they were last claimed from.
    var limited: Set<String> = []
    /// The shard of each namespace at which the next claim begins.
    package var turns: [String: Int] = [:]
    /// When a worker of this store has last looked at what is due in each namespace.
    var claims: [String: ContinuousClock.Instant] = [:]
    package var known: Known

    package init(_ known: Known) { self.known = known }

    /// Notes that others have submitted to a namespace; nil if to any.
    package mutating func noteHint(_ namespace: String?) {
        if let namespace { wakeSignal.signalAll(in: namespace) } else { wakeSignal.signalAll() }
    }

    /// Begins to forget, if that is due or asked for; the next time is in ten seconds.
    package mutating func beginsForgetting(now isDue: Bool) -> Bool {
        guard isDue || nextForgetting <= .now else { return false }
        nextForgetting = .now + .seconds(10)
        return true
    }

    /// Forgets again soon: there is more.
    package mutating func forgetSoon() { forgetAgain(in: .milliseconds(100)) }

    package mutating func forgetAgain(in time: Duration) { nextForgetting = .now + time }
}

/// The connections of a store, and the thread that uses them.
package protocol ServerConnections: Sendable {
    /// Receives the hints of a namespace from now on.
    func listen(_ namespace: String)
    var isClosed: Bool { get }
    /// Refuses new calls. Earlier ones are answered.
    func beginClosing()
    /// Refuses new calls, and returns when the earlier ones have been answered and the connections closed.
    func close() async
}

// MARK: - Workers

extension ServerStore {
    /// See ``StoreCalls/exchange(_:_:)``.
    package func exchange(_ reports: [DurableReport], _ claim: DurableClaim?) async -> DurableExchange {
        await forgetSome()
        // The calls of one worker, in one namespace, are made together.
        var callers = Set(reports.map { Caller(owner: $0.owner, namespace: $0.namespace) })
        if let claim { callers.insert(Caller(owner: claim.terms.owner, namespace: claim.namespace)) }
        if callers.count == 1, let caller = callers.first {
            return await exchange(reports, claim, by: caller.owner, in: caller.namespace)
        }
        var answers = DurableExchange(reports: [], claim: nil)
        for report in reports {
            answers.reports += await exchange([report], nil, by: report.owner, in: report.namespace).reports
        }
        if let claim {
            answers.claim = await exchange([], claim, by: claim.terms.owner, in: claim.namespace).claim
        }
        return answers
    }

    /// See ``StoreCalls/wait(in:after:atMost:)``.
    package func wait(in namespace: String, after mark: Int64, atMost time: Duration) async throws(DurableError) {
        let connections = connections
        if connections.isClosed { throw .closed }
        if options.listens { connections.listen(namespace) }
        // Others may submit without a hint.
        await state.wait(in: namespace, after: mark, atMost: min(time, .seconds(1)), by: options.clock) { _ in
            connections.isClosed
        }
    }

    /// See ``StoreCalls/interruptions(of:besides:in:atMost:)``.
    package func interruptions(
        of worker: Int64, besides known: [Int64], in namespace: String, atMost time: Duration
    ) async throws(DurableError) -> [Int64] {
        let connections = connections
        if connections.isClosed { throw .closed }
        if options.listens { connections.listen(namespace) }
        // The mark comes before the look, which takes a while.
        let mark = state.changeAndWake { $0.wakeSignal.announceLook(in: namespace) }
        let look = try await lookAtRuns(of: worker, in: namespace)
        let found = look.interrupted.filter { !known.contains($0) }
        if !found.isEmpty || time <= .zero { return found }
        // Others may submit without a hint.
        await state.wait(
            for: .interruptions, in: namespace, after: mark, atMost: min(time, look.next ?? time, .seconds(1)),
            by: options.clock
        ) { _ in connections.isClosed }
        return try await lookAtRuns(of: worker, in: namespace).interrupted.filter { !known.contains($0) }
    }

    /// See ``StoreCalls/close()``.
    public func close() async {
        connections.beginClosing()
        state.changeAndWake { $0.wakeSignal.signalAll() }
        await connections.close()
    }
}

private struct Caller: Hashable {
    let owner: Int64
    let namespace: String
}

extension DurableError {
    package static var notUnderstood: DurableError { .unknown("the server's reply was not understood") }
}

extension Result<DurableReport.Answer, DurableError> {
    /// Creates the answer to a report from the number that the server gives.
    package init(number: Int64?) {
        switch number {
        case 0: self = .success(.accepted)
        case 1: self = .success(.alreadyDone)
        case 2: self = .success(.leaseLost)
        case 4: self = .success(.interrupted)
        default: self = .failure(.notUnderstood)
        }
    }
}
