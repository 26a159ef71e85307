// The reports of workers, and the calls about dead runs.
extension DurableReference {
    /// The kind of a worker's report on its run.
    public enum ReportKind: Hashable, Sendable {
        /// The run continues.
        case heartbeat(lease: Int)
        /// The handler returned.
        case completed
        /// The handler threw; the run is retried after a delay, or never.
        case failed(String, retry: Int?)
        /// The handler gave the run up.
        case gaveUp(String)
        /// The handler asked for the run again after a time.
        case snoozed(for: Int)
        /// The handler goes on long after its time limit.
        case overdue
        /// The run is given back without an attempt.
        case released
        /// The handler was cancelled for a newer value, and threw.
        case interrupted
    }

    /// The store's answer to a report.
    public enum Reply: Hashable, Sendable {
        /// The report is recorded.
        case accepted
        /// The same, and a newer value has interrupted the run.
        case interrupted
        /// The report was recorded before, or the run has ended in another way.
        case alreadyDone
        /// Another worker has the run.
        case leaseLost
    }

    /// Takes a worker's report.
    ///
    /// - Returns: The answers that are correct.
    public mutating func report(
        _ kind: ReportKind, key: String, run: Int, fence: Int, owner: Int, at now: Int
    ) -> [Reply] {
        settle(at: now)
        let found = spans.indices.first { index in
            let span = spans[index]
            return span.key == key && (span.place == .claimed || span.place == .backoff) && span.run == run
                && span.fence == fence && span.owner == owner
        }
        guard let index = found else {
            let ends = spans.filter { $0.key == key && $0.run == run }
            for span in ends {
                guard case .ended(let end) = span.place else { continue }
                let isRemembered = end == .dead || now - span.endedAt <= retention
                return isRemembered && end != .discarded ? [.alreadyDone] : [.alreadyDone, .leaseLost]
            }
            return [.leaseLost]
        }
        if spans[index].place == .backoff {
            switch kind {
            case .failed, .gaveUp, .snoozed, .released, .interrupted: return [.alreadyDone]
            case .heartbeat, .completed, .overdue: return [.leaseLost]
            }
        }
        switch kind {
        case .heartbeat(let lease):
            spans[index].until = later(now, by: lease)
            if spans[index].isInterrupted { return [.interrupted] }
        case .completed:
            end(index, .completed, at: now)
        case .failed(let error, let retry):
            if putBackIfInterrupted(index, at: now) { break }
            spans[index].error = error
            if let retry {
                spans[index].place = .backoff
                spans[index].until = later(now, by: retry)
                giveWay(key, at: now)
            } else {
                die(index, at: now)
            }
        case .gaveUp(let reason):
            if putBackIfInterrupted(index, at: now) { break }
            spans[index].error = reason
            die(index, at: now)
        case .snoozed(let time):
            if putBackIfInterrupted(index, at: now) { break }
            spans[index].attempt -= 1
            spans[index].snoozes += 1
            spans[index].isSnoozed = true
            spans[index].place = .backoff
            spans[index].until = later(now, by: time)
            giveWay(key, at: now)
        case .overdue: break
        case .released, .interrupted:
            if putBackIfInterrupted(index, at: now) { break }
            spans[index].attempt -= 1
            spans[index].place = .backoff
            spans[index].until = now
            giveWay(key, at: now)
        }
        return [.accepted]
    }

    // MARK: - Dead runs

    /// The answer to a request to retry a dead run.
    public enum Retry: Hashable, Sendable {
        /// It may be claimed.
        case accepted
        /// There is none.
        case notFound
        /// Only the latest value counts, and the key has a newer generation.
        case outdated
        /// The key has another run.
        case busy
    }

    /// Retries a dead run.
    public mutating func retry(_ run: Int, at now: Int) -> Retry {
        settle(at: now)
        guard let index = spans.firstIndex(where: { $0.run == run && $0.place == .ended(.dead) }) else {
            return .notFound
        }
        guard let key = keys.firstIndex(where: { $0.key == spans[index].key }) else { return .notFound }
        if setup.combination == .latest, keys[key].newest > spans[index].numbers.upperBound { return .outdated }
        if find(keys[key].key, .claimed, .backoff) != nil { return .busy }
        if isIdle(key, at: now) { keys[key].isReborn = true }
        spans[index].place = .backoff
        spans[index].until = now
        spans[index].attempt = 0
        spans[index].error = nil
        spans[index].snoozes = 0
        spans[index].isSnoozed = false
        spans[index].isExempt = true
        return .accepted
    }

    /// Returns the dead runs of a selection.
    public func deadRuns(_ selection: Selection, at now: Int) -> Set<Int> {
        let found = spans.filter { span in
            span.place == .ended(.dead) && span.key.hasPrefix(selection.prefix)
                && (selection.age.map { span.endedAt <= now - $0 } ?? true)
                && (selection.error.map { span.error?.contains($0) == true } ?? true)
        }
        return Set(found.compactMap(\.run))
    }

    /// Discards a dead run.
    public mutating func discard(_ run: Int, at now: Int) -> Bool {
        guard let index = spans.firstIndex(where: { $0.run == run && $0.place == .ended(.dead) }) else { return false }
        end(index, .discarded, at: now)
        return true
    }
}

extension DurableReference.Handed: CustomStringConvertible {
    /// All parts, on one line.
    public var description: String {
        "run \(run)/\(fence) of \(key): \(numbers) \(values) ×\(count) \(cause) due \(due) first \(first) attempt "
            + "\(attempt)"
    }
}
