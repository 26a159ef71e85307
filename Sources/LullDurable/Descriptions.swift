// What a program sees when it prints what calls return: one line each, for logs and messages, and not to be parsed.

public import Foundation

extension DurableReceipt: CustomStringConvertible {
    /// `submit 3 of key lamp in sync, due in 2 s`.
    public var description: String {
        let due = dueIn.map { $0 <= .zero ? "due at once" : "due in \($0.text)" } ?? "absorbed"
        return "submit \(generation) of key \(keyText(key)) in \(namespace), \(due)"
    }
}

extension DurableState: CustomStringConvertible {
    /// `executed`, or `failed: the server is away`.
    public var description: String {
        func text(_ word: String, _ error: String?) -> String { word + (error.map { ": \($0)" } ?? "") }
        return switch self {
        case .pending: "pending"
        case .ready: "ready"
        case .running(let attempt): "running, attempt \(attempt)"
        case .waitingForRetry(let attempt, let error): text("waiting for a retry after attempt \(attempt)", error)
        case .snoozed(let times): "snoozed, \(times.of("time")) so far"
        case .executed: "executed"
        case .failed(let error): text("failed", error)
        case .cancelled: "cancelled"
        case .absorbed: "absorbed"
        case .dead(let error): text("dead", error)
        case .forgotten: "forgotten"
        }
    }
}

extension DurableEnd: CustomStringConvertible {
    /// `submits 3 to 5 of key lamp, run 12, 4 s ago: executed`.
    public var description: String {
        let range = submits.count == 1 ? " \(submits.lowerBound)" : "s \(submits.lowerBound) to \(submits.upperBound)"
        let run = run.map { ", run \($0)" } ?? ""
        return "submit\(range) of key \(keyText(key))\(run), \(age.text) ago: \(state)"
    }
}

extension DurableRun: CustomStringConvertible {
    /// `run 12 (key lamp), attempt 1`.
    public var description: String { "\(summary), attempt \(attempt)" }

    /// `run 12 (key lamp)`.
    var summary: String { text(of: id, key) }
}

extension DurableExecution: CustomStringConvertible {
    /// `run 12 (key lamp), attempt 1`. The values are left out.
    public var description: String { "\(text(of: runID, key)), attempt \(attempt)" }
}

extension DurableDeadRun: CustomStringConvertible {
    /// `run 12 (key lamp), dead for 4 s after attempt 20: the server is away`.
    public var description: String {
        let error = error.map { ": \($0)" } ?? ""
        return "\(text(of: id, key)), dead for \(age.text) after attempt \(attempts)\(error)"
    }
}

extension DurableListedRun: CustomStringConvertible {
    /// `run 12, attempt 1 by worker 5 for 3 s`, or `run 12, attempt 2 in 4 s: the server is away`.
    public var description: String {
        let error = error.map { ": \($0)" } ?? ""
        if let worker {
            return "run \(id), attempt \(attempt) by worker \(worker) for \((runningFor ?? .zero).text)\(error)"
        }
        let snoozed = snoozes > 0 ? ", snoozed \(snoozes.of("time"))" : ""
        return "run \(id), attempt \(attempt + 1) in \((retryIn ?? .zero).text)\(snoozed)\(error)"
    }
}

extension DurableListing: CustomStringConvertible {
    /// `key lamp: 2 submits pending, due in 1.5 s; 1 ready for 3 s; run 12, attempt 1 by worker 5 for 3 s`.
    public var description: String {
        var parts: [String] = []
        if pending > 0 {
            parts.append("\(pending.of("submit")) pending" + (dueIn.map { ", due in \($0.text)" } ?? ""))
        }
        if ready > 0 { parts.append("\(ready.of("submit")) ready for \((readyFor ?? .zero).text)") }
        if let run { parts.append("\(run)") }
        return "key \(keyText(key)): " + (parts.isEmpty ? "no work" : parts.joined(separator: "; "))
    }
}

extension DurableStatus: CustomStringConvertible {
    /// `sync: 3 keys pending, 1 running, 2 dead runs, the oldest due for 4 s`.
    public var description: String {
        let oldest = oldestDue.map { ", the oldest due for \($0.text)" } ?? ""
        return "\(namespace): \(hasWork ? workText : "no work")\(oldest)" + (pause.map { "; \($0)" } ?? "")
    }
}

extension DurablePause: CustomStringConvertible {
    /// `paused`, or `paused: the database is moving`.
    public var description: String { "paused\(suffix)" }
}

extension DurableWorker: CustomStringConvertible {
    /// `worker 5 on alpha (process 412): 3 runs, seen 20 s ago`.
    public var description: String {
        "worker \(id) on \(host) (process \(process)): \(running.of("run")), seen \(seen.text) ago"
    }
}

extension DurableCounters: CustomStringConvertible {
    /// `12 attempts, 1 failure, 0 lost leases, 0 restarts`.
    public var description: String {
        "\(attempts.of("attempt")), \(failures.of("failure")), \(lostLeases.of("lost lease")), "
            + restarted.of("restart")
    }
}

extension DurableSelection.Count: CustomStringConvertible {
    /// `3 keys to flush, 4 to cancel, 1 dead run`.
    public var description: String {
        "\(flushable.of("key")) to flush, \(cancellable) to cancel, \(dead.of("dead run"))"
    }
}

/// `run 12 (key lamp)`.
private func text(of run: DurableRun.ID, _ key: some Hashable) -> String { "run \(run) (key \(keyText(key)))" }

/// The text of a key of any of the types that records have: bytes, a key, or nil if no key of the type has the bytes.
private func keyText(_ key: some Hashable) -> String {
    if let key = key as? any DurableKey { return "\(key)" }
    if let bytes = key as? [UInt8] { return String(decoding: bytes, as: UTF8.self) }
    return "of another type"
}

extension Int {
    /// `1 run`, `3 runs`.
    fileprivate func of(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}

extension DurableError: LocalizedError {
    /// What `localizedDescription` returns: the ``description``.
    public var errorDescription: String? { description }
}
