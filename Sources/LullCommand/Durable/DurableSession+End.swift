internal import CLullCommand
internal import LullCore
internal import LullDurable
internal import LullSQLite

// How a session with a store ends. What is pending there is due when it is due, whoever works then: this process decides only
// about what it alone has submitted, and only if it was told to.

extension DurableSession {
    /// Reads no more, and does with what is pending what the options say.
    mutating func finish(at now: CoreInstant) {
        guard !hasReadAll else { return }
        isReading = false
        hasReadAll = true
        do throws(DurableError) {
            switch settings.atEnd ?? .keep {
            case .keep: return stop(.drain, at: now)
            case .drop:
                reportMixed(try drop())
                return stop(.drain, at: now)
            case .flush: reportMixed(try flush())
            case .wait: break
            }
        } catch {
            fail(Failure(error, subcommand))
            return stop(.drain, at: now)
        }
        hear(.success(()), at: now)
        endIfNothingIsAwaited(at: now)
    }

    /// Tells the worker to claim nothing more.
    mutating func stop(_ how: WorkerStateMachine.Event, at now: CoreInstant) {
        isStopping = true
        listening = nil
        drive(how, at: now)
    }

    /// - Returns: The number of keys that this process has not submitted alone.
    private func drop() throws(DurableError) -> Int {
        let (namespace, submitter) = (settings.namespace, submitter)
        return try file.write { transaction throws(DurableError) in
            try transaction.cancel(submittedBy: submitter, in: namespace).mixed
        }
    }

    /// Makes due what this process has submitted, and awaits that and whatever is due before it.
    ///
    /// - Returns: The number of keys that it has not submitted alone.
    private mutating func flush() throws(DurableError) -> Int {
        let (namespace, submitter) = (settings.namespace, submitter)
        let (now, keys, generations, mixed) = try file.write { transaction throws(DurableError) in
            let answer = try transaction.flush(submittedBy: submitter, in: namespace)
            return (transaction.now, answer.flushed.map(\.key), answer.flushed.map(\.generation), answer.mixed)
        }
        for (key, generation) in zip(keys, generations) { awaited[key] = generation }
        claimsThrough = now
        return mixed
    }

    private mutating func reportMixed(_ count: Int) {
        guard hasSubmitted, count > 0 else { return }
        let what = count == 1 ? "1 key stays" : "\(count) keys stay"
        streams.log.report(
            "\(what) in the store: other processes may have submitted to \(count == 1 ? "it" : "them") too")
    }

    // MARK: - Awaiting

    /// Takes notice of a claim: they hand out what fell due first.
    mutating func noteClaim(_ answer: Result<DurableClaim.Answer, DurableError>?) {
        guard let through = claimsThrough, case .success(let claimed)? = answer else { return }
        // There was nothing more, or only what is newer.
        if claimed.next != .zero || claimed.runs.contains(where: { $0.due > through }) { claimsThrough = nil }
    }

    /// Stops the worker when all has been read, and what is awaited has been done, by whomever.
    mutating func endIfNothingIsAwaited(at now: CoreInstant) {
        guard hasReadAll, !isStopping, claimsThrough == nil else { return }
        // As long as there is something to claim, what this worker has not had yet may be among it.
        guard awaited.isEmpty || listening != nil || nextQuestion <= now else { return }
        nextQuestion = now.advanced(by: Self.look)
        do throws(DurableError) {
            try forgetWhatIsOver()
        } catch {
            fail(Failure(error, subcommand))
            return stop(.drain, at: now)
        }
        if awaited.isEmpty { stop(.drain, at: now) }
    }

    /// Finds out what others have done of what is awaited. What waits for another attempt is not awaited.
    private mutating func forgetWhatIsOver() throws(DurableError) {
        guard !awaited.isEmpty else { return }
        let (namespace, awaited) = (settings.namespace, awaited)
        let over = try file.read { transaction throws(DurableError) in
            var over: [[UInt8]] = []
            for (key, generation) in awaited {
                let receipt = DurableReceipt(
                    namespace: namespace, key: key, generation: generation, dueIn: nil, due: nil)
                switch try transaction.state(of: receipt) {
                // One that is not over is enough to know.
                case .pending, .ready, .running: return over
                default: over.append(key)
                }
            }
            return over
        }
        for key in over { self.awaited[key] = nil }
    }

    // MARK: - What is left

    /// Says to a person that the end of the input was not the end of what was read.
    mutating func reportKept() {
        guard isatty(STDERR_FILENO) == 1, hasSubmitted, settings.atEnd ?? .keep == .keep,
            let status = try? namespaceStatus()
        else { return }
        let count = status.pending + status.ready
        if count == 0 { return }
        let what = count == 1 ? "1 key has a value that stays" : "\(count) keys have values that stay"
        streams.log.report("\(what) in the store, for lull work or the next lull \(subcommand.rawValue) to execute")
    }

    /// Says what a failed run's fate depends on.
    mutating func reportRetries() {
        guard let count = try? namespaceStatus().retrying, count > 0 else { return }
        let what = count == 1 ? "1 run waits" : "\(count) runs wait"
        streams.log.report("\(what) in the store for another attempt")
    }

    func namespaceStatus() throws(DurableError) -> DurableStatus {
        let namespace = settings.namespace
        return try file.read { transaction throws(DurableError) in try transaction.status(of: namespace) }
    }
}
