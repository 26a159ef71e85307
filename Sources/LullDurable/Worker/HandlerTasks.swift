internal import Dispatch
internal import Lull
internal import LullCore

/// Carries out the runs of a worker in tasks that call the user's handler.
///
/// Handlers that end are not reported one by one. A task waits until all handlers that were decided on have been
/// started, and until those that end at once have ended; then it hands their ends in together. Their reports, and one
/// claim for all the slots that they free, go to the store in one call and can therefore share a transaction.
final class HandlerTasks<Key: DurableKey, Value: Codable & Sendable>: WorkerHost {
    typealias Handler = @Sendable @isolated(any) (DurableExecution<Key, Value>) async throws -> Void

    private struct State {
        /// The handlers that run, by run.
        var handlers: [Int64: RunningHandler] = [:]
        /// The number of handlers that were decided on and have not been started.
        var unstarted = 0
        /// Handlers that have ended and have not been handed in.
        var ended: [EndedHandler] = []
    }

    private struct RunningHandler {
        let fence: Int64
        var task: Task<Void, any Error>?
        /// The time limit that has cancelled it.
        var exceeded: TimeLimitExceeded?
    }

    /// The run may be another worker's by now.
    private struct TooLate: Error {}

    private struct EndedHandler {
        let run: DurableRun
        let failure: (any Error)?

        var event: WorkerStateMachine.Event {
            if failure is TooLate { return .notStarted(run: run.number) }
            return .handlerEnded(run: run.number, failure.map(HandlerEnd.init) ?? .returned)
        }
    }

    private let state = Guarded(State())
    private let clock: WorkerClock
    private let counters: Guarded<DurableCounters>
    private let fold: DurableFold<Value>?
    private let onFailure: (@Sendable (DurableFailure) async -> Void)?
    private let handler: Handler

    init(
        _ clock: WorkerClock, _ counters: Guarded<DurableCounters>, _ fold: DurableFold<Value>?,
        _ onFailure: (@Sendable (DurableFailure) async -> Void)?, _ handler: @escaping Handler
    ) {
        self.clock = clock
        self.counters = counters
        self.fold = fold
        self.onFailure = onFailure
        self.handler = handler
    }

    func exchange(
        _ reports: [DurableReport], _ claim: DurableClaim?, with store: any StoreCalls
    ) async -> DurableExchange {
        await store.exchangeWithPauses(reports, claim)
    }

    func perform(
        _ actions: [WorkerStateMachine.Action], after events: [WorkerStateMachine.Event], of driver: WorkerDriver
    ) {
        // All that are decided on, before the first is started.
        let starts = actions.compactMap { if case .start(let run) = $0 { run } else { nil } }
        if !starts.isEmpty {
            state.change { state in
                state.unstarted += starts.count
                for run in starts { state.handlers[run.number] = RunningHandler(fence: run.fence) }
            }
        }
        for action in actions {
            switch action {
            case .start(let run): start(run, driver)
            case .cancel(let run, let exceeded):
                let task = state.change { state in
                    state.handlers[run]?.exceeded = exceeded
                    return state.handlers[run]?.task
                }
                task?.cancel()
            case .leaseLost(let run):
                counters.change { $0.lostLeases += 1 }
                notify(.leaseLost(run))
            case .died(let run): notify(.died(run))
            case .overdue(let run, let error):
                counters.change { $0.overdue += 1 }
                notify(.overdue(run, timeLimit: error.limit))
            case .leaseGivenUp(let run): notify(.leaseGivenUp(run))
            case .storeFailed(let error): notify(.store(error))
            // A pause is no failure. Who looks at the status sees it.
            case .announce, .claim, .report, .wait, .watch, .paused, .resumed: break
            }
        }
    }

    /// Calls `onFailure`, or logs.
    private func notify(_ failure: DurableFailure) {
        if let onFailure {
            clock.spawn("the failure handler of a worker") { await onFailure(failure) }
        } else {
            logLine("Lull: \(failure)", kind: failure.kind)
        }
    }

    private func start(_ run: DurableRun, _ driver: WorkerDriver) {
        counters.change { $0.attempts += 1 }
        let task = clock.spawn(run.summary, on: handler.isolation) {
            var failure: (any Error)?
            do { try await self.callHandler(of: run, driver) } catch { failure = error }
            self.handlerEnded(run, failure, driver)
        }
        let canHandIn = state.change { state in
            state.unstarted -= 1
            // The handler may have ended already, and another attempt may have begun.
            if state.handlers[run.number]?.fence == run.fence { state.handlers[run.number]?.task = task }
            return state.unstarted == 0 && !state.ended.isEmpty
        }
        if canHandIn { handInSoon(to: driver) }
    }

    private nonisolated(nonsending) func callHandler(of run: DurableRun, _ driver: WorkerDriver) async throws {
        // A clock that tracks work knows only what is done in tasks.
        let execution: DurableExecution<Key, Value> =
            clock.observer != nil || run.isQuicklyDecoded(fold)
            ? try DurableExecution(run, fold)
            : try await Self.inBackground { [fold] in try DurableExecution(run, fold) }
        // All of that takes time, and the process may have been stopped.
        guard driver.leaseLeft(of: run.number) > .zero else {
            counters.change { $0.attempts -= 1 }
            throw TooLate()
        }
        try await handler(execution)
    }

    /// Does something in a thread that is none of the cooperative pool's, which other handlers need.
    private nonisolated(nonsending) static func inBackground<Result: Sendable>(
        _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            // Tasks have the threads of another quality of service.
            DispatchQueue.global(qos: .utility).async { continuation.resume(with: .init { try work() }) }
        }
    }

    // MARK: - Ends

    /// Notes that a handler has ended. The first one of a series arranges for all of them to be handed in.
    private func handlerEnded(_ run: DurableRun, _ failure: (any Error)?, _ driver: WorkerDriver) {
        let isFirst = state.change { state in
            let handler = state.handlers[run.number]
            let exceeded = handler?.fence == run.fence ? handler?.exceeded : nil
            state.ended.append(EndedHandler(run: run, failure: failure == nil ? nil : exceeded ?? failure))
            return state.unstarted == 0 && state.ended.count == 1
        }
        if isFirst { handInSoon(to: driver) }
    }

    /// Hands in the handlers that have ended, once every task that is ready has had a turn and no further handler has
    /// ended.
    private func handInSoon(to driver: WorkerDriver) {
        clock.spawn("a worker's reports") {
            var (seen, count) = (0, self.state.change { $0.ended.count })
            while count > seen {
                await Task.yield()
                (seen, count) = (count, self.state.change { $0.ended.count })
            }
            self.handIn(to: driver)
        }
    }

    /// Hands in the handlers that have ended, and notifies of those that have failed.
    private func handIn(to driver: WorkerDriver) {
        let ended = state.change { state in
            defer { state.ended = [] }
            for ended in state.ended { state.handlers[ended.run.number] = nil }
            return state.ended
        }
        let actions = driver.handle(ended.map(\.event))
        let failures = ended.filter { $0.failure != nil && !($0.failure is TooLate) }
        for action in actions {
            guard case .report(let report) = action else { continue }
            if report.kind == .interrupted { counters.change { $0.restarted += 1 } }
            let retry: CoreDuration?
            switch report.kind {
            case .failed(_, let delay): retry = delay
            case .gaveUp: retry = nil
            case .completed, .snoozed, .released, .interrupted, .heartbeat, .overdue: continue
            }
            for ended in failures where ended.run.number == report.run {
                guard let failure = ended.failure else { continue }
                counters.change { $0.failures += 1 }
                notify(.threw(failure, ended.run, retryIn: retry.map { Duration($0) }))
            }
        }
    }
}

extension DurableRun {
    /// Whether decoding and folding the values takes less time than another thread needs to begin. The user's function
    /// may take any time.
    fileprivate func isQuicklyDecoded<Value>(_ fold: DurableFold<Value>?) -> Bool {
        (values.count == 1 || fold == nil && values.count <= 64) && values.reduce(0) { $0 + $1.count } <= 1 << 16
    }
}

extension HandlerEnd {
    /// The most characters of an error that a store keeps.
    private static let longestText = 500

    /// Creates the end of a handler that threw this error, with as much of its text as the store keeps.
    fileprivate init(_ error: any Error) {
        switch error {
        case let snooze as Snooze: self = .snoozed(for: CoreDuration(snooze.time))
        case let retry as RetryAfter: self = .retry(after: CoreDuration(retry.time), Self.text(retry))
        case let answer as GiveUp: self = .gaveUp(Self.text(answer))
        case let pause as PauseFor: self = .paused(pause)
        default: self = .threw(Self.text(error))
        }
    }

    private static func text(_ error: any Error) -> String { String("\(error)".prefix(longestText)) }
}
