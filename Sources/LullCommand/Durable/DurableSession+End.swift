internal import CLullCommand
internal import LullCore
internal import LullDurable
internal import LullSQLite

// The end of a session with a store. Pending values stay there, due when they are due, for any worker. Only `--at-end` makes this
// process flush, drop or await values, and then only those that it alone has submitted.

extension DurableSession {
    /// Ends the input, and treats pending values as `--at-end` says.
    mutating func finish(at now: CoreInstant) {
        guard phase == .reading else { return }
        phase = .awaiting
        do throws(DurableError) {
            switch settings.atEnd ?? .keep {
            case .keep: return stop(.drain, at: now)
            case .drop:
                reportMixedKeys(try drop())
                return stop(.drain, at: now)
            case .flush: reportMixedKeys(try flush())
            case .wait: break
            }
        } catch {
            streams.fail(Failure(error, subcommand))
            return stop(.drain, at: now)
        }
        notifyWorker(.success(()), at: now)
        stopIfNothingIsAwaited(at: now)
    }

    /// - Returns: The number of mixed keys: other processes may have submitted to them too.
    private func drop() throws(DurableError) -> Int {
        let (namespace, submitter) = (settings.namespace, submitter)
        return try file.write { transaction throws(DurableError) in
            try transaction.cancel(submittedBy: submitter, in: namespace).mixed
        }
    }

    /// Makes due what this process has submitted, and awaits that and whatever is due before it.
    ///
    /// - Returns: The number of mixed keys.
    private mutating func flush() throws(DurableError) -> Int {
        let (namespace, submitter) = (settings.namespace, submitter)
        let (now, keys, generations, mixed) = try file.write { transaction throws(DurableError) in
            let answer = try transaction.flush(submittedBy: submitter, in: namespace)
            return (transaction.now, answer.flushed.map(\.key), answer.flushed.map(\.generation), answer.mixed)
        }
        for (key, generation) in zip(keys, generations) { awaited[key] = generation }
        mustClaimThrough = now
        return mixed
    }

    private mutating func reportMixedKeys(_ count: Int) {
        guard hasSubmitted, count > 0 else { return }
        let what = count == 1 ? "1 key stays" : "\(count) keys stay"
        streams.log.report(
            "\(what) in the store: other processes may have submitted to \(count == 1 ? "it" : "them") too")
    }

    // MARK: - Awaiting

    /// Notes how far a claim has got: claims return what fell due first.
    mutating func recordClaim(_ answer: Result<DurableClaim.Answer, DurableError>?) {
        guard let through = mustClaimThrough, case .success(let claimed)? = answer else { return }
        // Nothing was left, or only what fell due later.
        if claimed.next != .zero || claimed.runs.contains(where: { $0.due > through }) { mustClaimThrough = nil }
    }

    /// Stops the worker when the input has ended and what is awaited has been done, by this process or another.
    mutating func stopIfNothingIsAwaited(at now: CoreInstant) {
        guard phase == .awaiting, mustClaimThrough == nil else { return }
        // While there is work to claim, this worker may still claim what is awaited.
        guard awaited.isEmpty || listenDeadline != nil || nextAwaitedCheck <= now else { return }
        nextAwaitedCheck = now.advanced(by: Self.commitCheckInterval)
        do throws(DurableError) {
            try removeFinishedAwaited()
        } catch {
            streams.fail(Failure(error, subcommand))
            return stop(.drain, at: now)
        }
        if awaited.isEmpty { stop(.drain, at: now) }
    }

    /// Removes from the awaited keys those that other processes have done, and those that wait for another attempt.
    private mutating func removeFinishedAwaited() throws(DurableError) {
        guard !awaited.isEmpty else { return }
        let (namespace, awaited) = (settings.namespace, awaited)
        let finished = try file.read { transaction throws(DurableError) in
            var finished: [[UInt8]] = []
            for (key, generation) in awaited {
                let receipt = DurableReceipt(
                    namespace: namespace, key: key, generation: generation, dueIn: nil, due: nil)
                switch try transaction.state(of: receipt) {
                // One unfinished key is enough to go on waiting.
                case .pending, .ready, .running: return finished
                default: finished.append(key)
                }
            }
            return finished
        }
        for key in finished { self.awaited[key] = nil }
    }

    // MARK: - What is left

    /// Tells a user at a terminal that values are still pending although the input has ended.
    mutating func reportPendingValues() {
        guard isatty(STDERR_FILENO) == 1, hasSubmitted, settings.atEnd ?? .keep == .keep,
            let status = try? namespaceStatus()
        else { return }
        let count = status.pending + status.ready
        if count == 0 { return }
        let what = count == 1 ? "1 key has a value that stays" : "\(count) keys have values that stay"
        streams.log.report("\(what) in the store, for lull work or the next lull \(subcommand.rawValue) to execute")
    }

    /// Logs how many failed runs wait for another attempt.
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
