internal import CLullCommand
internal import LullCore
internal import LullDurable

// The end of a session with a store. Pending values stay there, due when they are due, for any worker. Only `--at-end`
// makes this process flush, drop or await values, and then only those that it alone has submitted.

extension DurableSession {
    /// Ends the input, if it has not ended yet, and treats pending values as `--at-end` says.
    mutating func endInput(at now: CoreInstant) {
        guard phase == .reading else { return }
        do throws(DurableError) {
            switch options.atEnd ?? .keep {
            case .keep, .wait: awaitClaim()
            case .drop:
                reportMixedKeys(try drop())
                awaitClaim()
            case .flush: reportMixedKeys(try flush())
            }
            phase.handle(.inputEnded)
            if awaited.claimLimit != nil { driver.lookAgain() }
            stopIfNothingIsAwaited(at: now)
        } catch {
            loop.streams.fail(Failure(error, subcommand))
            stop(.drain)
        }
    }

    /// Makes the worker claim nothing more, and leaves pending values in the store.
    ///
    /// - Parameter event: `drain` gives commands that run the time they need. `stop` gives them half a lease, and
    ///   records that are not written yet go back to the store at once.
    mutating func stop(_ event: WorkerStateMachine.Event) {
        phase.handle(.stop)
        driver.handle([event])
    }

    /// - Returns: The number of mixed keys: other processes may have submitted to them too.
    private func drop() throws(DurableError) -> Int {
        let (submitter, namespace) = (submitter, options.namespace)
        return try store.change { try await $0.change(.cancel, .submitter(submitter), in: namespace).mixed }
    }

    /// Makes due what this process has submitted, and awaits that and whatever is due before it.
    ///
    /// - Returns: The number of mixed keys.
    private mutating func flush() throws(DurableError) -> Int {
        let (submitter, namespace) = (submitter, options.namespace)
        let (flush, now) = try store.change { store in
            // What is flushed is awaited in any case.
            (
                try await store.change(.flush, .submitter(submitter), in: namespace),
                try? await store.presentInstant(in: namespace)
            )
        }
        for (key, generation) in flush.flushed { awaited.generations[key] = generation }
        awaited.claimLimit = now ?? .farPast
        return flush.mixed
    }

    private mutating func reportMixedKeys(_ count: Int) {
        guard hasSubmitted, count > 0 else { return }
        let what = count == 1 ? "1 key stays" : "\(count) keys stay"
        loop.streams.log.report(
            "\(what) in the store: other processes may have submitted to \(count == 1 ? "it" : "them") too")
    }

    // MARK: - Awaiting

    /// Lets the worker claim what has fallen due so far, as far as it has capacity.
    private mutating func awaitClaim() {
        let namespace = options.namespace
        awaited.claimLimit = try? store.ask { try await $0.presentInstant(in: namespace) }
        awaited.isForOneClaim = true
    }

    /// When to ask what others have done: the end of their runs makes nothing claimable, so nothing tells of it.
    var nextAwaitedCheck: CoreInstant {
        phase == .awaiting && awaited.claimLimit == nil ? awaited.nextCheck : .farFuture
    }

    /// Stops when the input has ended and the awaited work is done, by this process or another.
    mutating func stopIfNothingIsAwaited(at now: CoreInstant) {
        guard phase == .awaiting else { return }
        if awaited.isForOneClaim, runs.count >= configuration.maxConcurrent { awaited.claimLimit = nil }
        guard awaited.claimLimit == nil, awaited.generations.isEmpty || awaited.nextCheck <= now else { return }
        awaited.nextCheck = now.advanced(by: Self.awaitedCheckInterval)
        do throws(DurableError) {
            for key in try keysDoneByOthers() { awaited.generations[key] = nil }
        } catch {
            loop.streams.fail(Failure(error, subcommand))
            return stop(.drain)
        }
        if awaited.generations.isEmpty { stop(.drain) }
    }

    /// Returns the awaited keys that other processes have done, and those that wait for another attempt.
    private func keysDoneByOthers() throws(DurableError) -> [[UInt8]] {
        var done: [[UInt8]] = []
        for (key, generation) in awaited.generations {
            let receipt = DurableReceipt(
                namespace: options.namespace, key: key, generation: generation, dueIn: nil, due: nil)
            switch try store.ask({ try await $0.state(of: receipt) }) {
            // One unfinished key is enough to go on waiting.
            case .pending, .ready, .running: return done
            default: done.append(key)
            }
        }
        return done
    }

    // MARK: - Messages at the end

    /// Logs, for a user at a terminal, that values are still pending although the input has ended.
    mutating func reportPendingValues() {
        guard isatty(STDERR_FILENO) == 1, hasSubmitted, options.atEnd ?? .keep == .keep,
            let status = try? namespaceStatus()
        else { return }
        let count = status.pending + status.ready
        if count == 0 { return }
        let what = count == 1 ? "1 key has a value that stays" : "\(count) keys have values that stay"
        loop.streams.log.report(
            "\(what) in the store, for lull work or the next lull \(subcommand.rawValue) to execute")
    }

    /// Logs how many failed runs wait for another attempt.
    mutating func reportRetries() {
        guard let count = try? namespaceStatus().retrying, count > 0 else { return }
        let what = count == 1 ? "1 run waits" : "\(count) runs wait"
        loop.streams.log.report("\(what) in the store for another attempt")
    }

    func namespaceStatus() throws(DurableError) -> DurableStatus {
        let namespace = options.namespace
        return try store.ask { try await $0.status(of: namespace) }
    }
}
