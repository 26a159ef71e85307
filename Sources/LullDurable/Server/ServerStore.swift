package import Lull
package import LullCore

/// What the stores on servers do alike.
///
/// A store for another server implements what this protocol requires, and of ``StoreCalls`` those
/// calls that are questions and steps of the server's own: `open`, `state`, `status`, `list`, `upcoming`, `ended`,
/// `announce`, `workers`, `dead`, `deadRuns`, `deadRun`, `retry`, `discard`, `count`, `pause`, `resume`, `forget` and
/// `presentInstant`. The other calls are here. The store talks to its server from a ``StoreThread``, and puts submits
/// together by a ``SubmitQueue``.
package protocol ServerStore: StoreCalls {
    /// What the store knows beside what all stores do.
    associatedtype Known: Sendable

    var connections: any ServerClient { get }
    var options: ServerOptions { get }
    var state: Guarded<ServerState<Known>> { get }

    /// Returns the shard of each submit, or why it cannot be recorded.
    func shards(of batch: [DurableSubmission]) async -> [Result<Int, DurableError>]

    /// See ``StoreCalls/submit(_:)``.
    func submit(_ batch: [DurableSubmission]) async -> [Result<DurableReceipt, DurableError>]

    /// Changes keys, some at a time: see ``StoreCalls/change(_:_:in:)``.
    func changeRows(
        _ change: DurableChange, _ target: ChangeTarget, in namespace: String
    ) async throws(DurableError) -> ChangeSum

    /// See ``StoreCalls/touch(_:in:wait:)``.
    func touchKey(_ key: [UInt8], in namespace: String, wait: CoreDuration?) async throws(DurableError) -> Bool

    /// Gives a dead run another series of attempts: see ``StoreCalls/retry(_:in:)``.
    func retryRun(_ run: Int64, in namespace: String) async throws(DurableError) -> DurableRetry

    /// Deletes a dead run, and returns whether there was one: see ``StoreCalls/discard(_:in:)``.
    func discardRun(_ run: Int64, in namespace: String) async throws(DurableError) -> Bool

    /// Returns the dead runs that died first, with their values.
    func oldestDeadRuns(in namespace: String, limit: Int) async throws(DurableError) -> [DurableDeadRun<[UInt8]>]

    /// Returns dead runs without their values: see ``StoreCalls/deadRuns(matching:in:newestFirst:limit:withValues:)``.
    func deadRuns(
        matching selection: DurableSelection, in namespace: String, newestFirst: Bool, limit: Int
    ) async throws(DurableError) -> [DurableDeadRun<[UInt8]>]

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

    /// Deletes a little of what is older than the limits say.
    func forgetStep(_ done: @escaping @Sendable (Forgotten) -> Void)
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
    package mutating func forgetSoon() { nextForgetting = .now + .milliseconds(100) }
}

/// The connections of a store, and the thread that uses them.
package protocol ServerClient: Sendable {
    /// Adds a submit; false if the client is closed.
    func add(_ entry: SubmitQueue.Entry) -> Bool
    /// Receives the hints of a namespace from now on.
    func listen(_ namespace: String)
    var isClosed: Bool { get }
    /// Refuses new calls. Earlier ones are answered.
    func beginClosing()
    /// Refuses new calls, and returns when the earlier ones have been answered and the connections closed.
    func close() async
}

extension ChangeTarget {
    package var submitter: Int64? { if case .submitter(let submitter) = self { submitter } else { nil } }
    package var selection: DurableSelection? { if case .selection(let selection) = self { selection } else { nil } }
}

extension DurableChange {
    /// The name that the server's functions and scripts know: of a change of all work, or of what comes from one
    /// submitter alone.
    package func name(of target: ChangeTarget) -> String {
        switch self {
        case .flush: target.submitter == nil ? "flush" : "flushOwn"
        case .cancel: target.submitter == nil ? "cancel" : "cancelOwn"
        }
    }
}

/// What a step of forgetting has found.
package enum Forgotten: Sendable {
    case all
    /// There is more.
    case some
    /// This user of the server has no right to it.
    case refused
}

// MARK: - Producers

extension ServerStore {
    package func submit(_ batch: [DurableSubmission]) async -> [Result<DurableReceipt, DurableError>] {
        await record(batch)
    }

    package func record(_ batch: [DurableSubmission]) async -> [Result<DurableReceipt, DurableError>] {
        if batch.isEmpty { return [] }
        let deadline = ContinuousClock.now + options.timeLimit
        let shards = await shards(of: batch)
        let results = await SubmitQueue.answers(count: batch.count) { index, answer in
            do throws(DurableError) {
                try batch[index].checkSize(by: options.limits)
                let entry = SubmitQueue.Entry(
                    submission: batch[index], shard: try shards[index].get(), deadline: deadline, answer: answer)
                if !connections.add(entry) { throw DurableError.closed }
            } catch {
                answer(.failure(error))
            }
        }
        await forgetSome()
        for (submission, result) in zip(batch, results) {
            guard case .success(let receipt) = result, let due = receipt.due else { continue }
            state.changeAndWake { state in
                state.wakeSignal.signal(CoreInstant(nanoseconds: due), in: submission.namespace)
                state.wakeSignal.signalInterruption(in: submission.namespace)
            }
        }
        return results
    }

    @discardableResult
    package func touch(_ key: [UInt8], in namespace: String, wait: CoreDuration?) async throws(DurableError) -> Bool {
        let wasOpen = try await touchKey(key, in: namespace, wait: wait)
        // With a delay of its own, something may be due sooner.
        if wait != nil { state.changeAndWake { $0.wakeSignal.signalAll(in: namespace) } }
        return wasOpen
    }

    @discardableResult
    package func change(
        _ change: DurableChange, _ target: ChangeTarget, in namespace: String
    ) async throws(DurableError) -> ChangeSum {
        let sum: ChangeSum
        if case .keys(let keys) = target {
            var counts: [Int] = []
            for key in keys { counts.append(try await changeRows(change, .keys([key]), in: namespace).count) }
            sum = ChangeSum(of: counts)
        } else {
            sum = try await changeRows(change, target, in: namespace)
        }
        if change == .flush { state.changeAndWake { $0.wakeSignal.signalAll(in: namespace) } }
        return sum
    }

    package func retry(_ runs: [Int64], in namespace: String) async throws(DurableError) -> [DurableRetry] {
        var answers: [DurableRetry] = []
        for run in runs { answers.append(try await retryRun(run, in: namespace)) }
        return answers
    }

    @discardableResult
    package func discard(_ runs: [Int64], in namespace: String) async throws(DurableError) -> Int {
        var count = 0
        for run in runs where try await discardRun(run, in: namespace) { count += 1 }
        return count
    }

    package func deadRuns(
        matching selection: DurableSelection, in namespace: String, newestFirst: Bool, limit: Int, withValues: Bool
    ) async throws(DurableError) -> [DurableDeadRun<[UInt8]>] {
        if withValues, selection == .all, !newestFirst { return try await oldestDeadRuns(in: namespace, limit: limit) }
        let found = try await deadRuns(matching: selection, in: namespace, newestFirst: newestFirst, limit: limit)
        if !withValues { return found }
        var whole: [DurableDeadRun<[UInt8]>] = []
        for run in found { if let run = try await deadRun(run.id, in: namespace) { whole.append(run) } }
        return whole
    }
}

// MARK: - Workers

extension ServerStore {
    /// See ``StoreCalls/exchange(_:_:)``.
    package func exchange(_ reports: [DurableReport], _ claim: DurableClaim?) async -> DurableExchange {
        await forgetSome()
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

// MARK: - Questions and forgetting

extension ServerStore {
    /// Forgets a little if that is due: every ten seconds, and sooner while there is more. Callers do not wait for it,
    /// except in tests.
    package func forgetSome(now isDue: Bool = false) async {
        let isTest = options.now != nil
        let begins = state.change { state in
            guard isDue || isTest || state.nextForgetting <= .now else { return false }
            state.nextForgetting = .now + .seconds(10)
            return true
        }
        guard begins else { return }
        let state = state
        let note = { @Sendable (answer: Forgotten) in
            state.change { state in
                switch answer {
                case .all: break
                case .some: state.nextForgetting = .now + .milliseconds(100)
                case .refused: state.nextForgetting = .now + .seconds(86400)
                }
            }
        }
        guard isTest else { return forgetStep(note) }
        await withCheckedContinuation { continuation in
            forgetStep { answer in
                note(answer)
                continuation.resume()
            }
        }
    }
}

/// How a call to a server has ended.
package enum ServerAnswer<Reply: Sendable, Fault: ServerFault>: Sendable {
    case reply(Reply)
    /// The server has refused it: nothing was recorded.
    case error(Fault)
    /// It certainly was not executed: no server could be reached.
    case unreached(String)
    /// It may have been executed.
    case lost(String)
    /// The store takes no more calls.
    case closed

    /// Returns the reply, or throws the error for the caller.
    package func get(in namespace: String) throws(DurableError) -> Reply {
        switch self {
        case .reply(let reply): return reply
        case .error(let error): throw error.durable(in: namespace)
        case .unreached(let why): throw .refused("the server cannot be reached: \(why)")
        case .lost(let why): throw .unknown("the connection to the server was lost: \(why)")
        case .closed: throw .closed
        }
    }
}

/// An error that a server answers with.
package protocol ServerFault: Sendable {
    /// The error for the caller of a call in a namespace.
    func durable(in namespace: String) -> DurableError
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
