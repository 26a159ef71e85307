internal import LullCore

// What becomes of the runs that a worker has.

extension Worker {
    /// A run that the worker has, or had.
    struct Held: Sendable {
        /// As it was handed out last.
        var run: DurableRun
        var stage = Stage.running
        /// Whether it is the worker's, as far as it knows.
        var isLeased = true
        /// Until when it is certainly nobody else's: counted from before the store was asked.
        var leaseEnd: CoreInstant
        /// When the next heartbeat is due.
        var beat: CoreInstant
        /// When the heartbeat was sent that is on its way.
        var beatSent: CoreInstant?
        var isToldToStop = false
        /// How often in a row the store did not take what was said about it.
        var refusals = 0
        /// The run was handed out again while it was being reported, by a claim sent at an instant: its lease had ended, or
        /// the report had come first.
        var again: (run: DurableRun, since: CoreInstant)?

        enum Stage: Hashable, Sendable {
            /// The handler runs.
            case running
            /// It has ended, and the store is being told.
            case reporting(DurableReport.Word)
            /// The store did not take it, and is told again at that instant.
            case unsent(DurableReport.Word, at: CoreInstant)
        }

        var isRunning: Bool { stage == .running }

        /// Whether the store has yet to be told something that it did not take.
        var hasUnsaid: Bool { refusals > 0 && isLeased }

        /// When something has to be done about it.
        var alarm: CoreInstant {
            switch stage {
            case .running: isLeased && beatSent == nil ? beat : .farFuture
            case .reporting: .farFuture
            case .unsent(_, let at): at
            }
        }
    }

    private var beatInterval: CoreDuration { .nanoseconds(settings.lease.nanoseconds / 3) }

    // MARK: - Beginning

    /// Takes a run that was claimed at an instant.
    mutating func take(_ run: DurableRun, _ since: CoreInstant) {
        if var known = held[run.id] {
            if known.isRunning {
                // The worker has taken over its own run, whose lease had ended: its handler goes on under the new fence.
                known.run = run
                if !settings.keepsValues { known.run.values = [] }
                known.isLeased = true
                renew(&known, since)
            } else {
                if known.again == nil { taken += 1 }
                known.again = (run, since)
            }
            held[run.id] = known
            return
        }
        var new = Held(run: run, leaseEnd: since, beat: since)
        renew(&new, since)
        if !settings.keepsValues { new.run.values = [] }
        held[run.id] = new
        guard stop == nil else { return say(.released, of: run.id) }
        taken += 1
        actions.append(.start(run))
    }

    /// The lease holds from an instant on.
    private mutating func renew(_ held: inout Held, _ since: CoreInstant) {
        held.leaseEnd = since.advanced(by: settings.lease)
        held.beat = since.advanced(by: beatInterval)
        held.refusals = 0
        wake(at: held.beat)
    }

    // MARK: - While the handler runs

    /// Sends the heartbeats that are due, together with those that soon will be.
    mutating func sendHeartbeats() {
        let isDue = { (held: Held) in held.isRunning && held.isLeased && held.beatSent == nil }
        guard held.values.contains(where: { isDue($0) && $0.beat <= now }) else { return }
        let soon = now.advanced(by: .nanoseconds(beatInterval.nanoseconds / 2))
        for held in held.values.sorted(by: { $0.run.id < $1.run.id }) where isDue(held) && held.beat <= soon {
            self.held[held.run.id]?.beatSent = now
            report(.heartbeat(lease: settings.lease), of: held.run)
        }
    }

    /// A handler is to stop; it may take its time, or not heed it.
    mutating func tellToStop(_ run: Int64) {
        guard let known = held[run], known.isRunning, !known.isToldToStop else { return }
        held[run]?.isToldToStop = true
        actions.append(.cancel(run: run))
    }

    // MARK: - Ending

    /// A handler has ended.
    mutating func ended(_ run: Int64, _ error: String?) {
        guard let known = held[run], known.isRunning else { return }
        taken -= 1
        guard known.isLeased, failure == nil else {
            held[run] = nil
            return
        }
        if let error {
            // Who was told to stop and threw has not failed.
            say(known.isToldToStop ? .released : failed(error, known.run), of: run)
        } else {
            say(.completed, of: run)
        }
    }

    private mutating func failed(_ error: String, _ run: DurableRun) -> DurableReport.Word {
        guard run.attempt < settings.backoff.maxAttempts else { return .failed(error, retry: nil) }
        return .failed(error, retry: jitter.shorten(settings.backoff.delay(after: run.attempt)))
    }

    /// Says the last word about a run.
    mutating func say(_ word: DurableReport.Word, of run: Int64) {
        guard let known = held[run] else { return }
        held[run]?.stage = .reporting(word)
        report(word, of: known.run)
    }

    /// Says again what the store did not take, where it is time.
    mutating func sendAgain() {
        for run in held.keys.sorted() {
            if case .unsent(let word, let at)? = held[run]?.stage, at <= now { say(word, of: run) }
        }
    }

    private mutating func report(_ word: DurableReport.Word, of run: DurableRun) {
        actions.append(
            .report(
                DurableReport(
                    namespace: settings.namespace, key: run.key, run: run.id, fence: run.fence, owner: settings.owner,
                    word)))
    }

    // MARK: - Answers

    /// The store has answered to a report, or has not.
    mutating func reported(_ report: DurableReport, _ result: Result<DurableReport.Answer, DurableError>) {
        switch result {
        case .success: trouble = nil
        case .failure(let error): complain(error)
        }
        // What was said under an older fence does not matter any more.
        guard failure == nil, let known = held[report.run], known.run.fence == report.fence else { return }
        if case .heartbeat = report.word {
            answeredHeartbeat(known, result)
        } else if case .reporting(let word) = known.stage {
            answered(known, word, result)
        }
    }

    private mutating func answeredHeartbeat(_ known: Held, _ result: Result<DurableReport.Answer, DurableError>) {
        var known = known
        guard known.isRunning, let sent = known.beatSent else { return }
        known.beatSent = nil
        switch result {
        case .success(.accepted):
            renew(&known, sent)
            held[known.run.id] = known
        case .success:
            known.isLeased = false
            held[known.run.id] = known
            actions.append(.lost(known.run))
            tellToStop(known.run.id)
        case .failure:
            known.refusals += 1
            known.beat = next(after: known.refusals)
            wake(at: known.beat)
            held[known.run.id] = known
            // It may be somebody else's by now, and nobody can say.
            if now >= known.leaseEnd { tellToStop(known.run.id) }
        }
    }

    private mutating func answered(
        _ known: Held, _ word: DurableReport.Word, _ result: Result<DurableReport.Answer, DurableError>
    ) {
        let run = known.run
        switch result {
        case .success(.accepted), .success(.alreadyDone):
            held[run.id] = nil
            // It has been handed out for another attempt.
            guard let (run, since) = known.again else { return }
            taken -= 1
            take(run, since)
        case .success(.leaseLost):
            guard let (again, _) = known.again else {
                held[run.id] = nil
                actions.append(.lost(run))
                return
            }
            // It was lost to this worker itself: what was said holds under the new fence.
            taken -= 1
            held[run.id]?.again = nil
            held[run.id]?.run = again
            if case .failed(let error, _) = word {
                say(failed(error, again), of: run.id)
            } else {
                say(word, of: run.id)
            }
        case .failure:
            held[run.id]?.refusals += 1
            let at = next(after: known.refusals + 1)
            held[run.id]?.stage = .unsent(word, at: at)
            wake(at: at)
        }
    }
}
