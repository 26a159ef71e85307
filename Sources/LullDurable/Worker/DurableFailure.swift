/// What went wrong in a worker. It goes on in every case.
@nonexhaustive
public enum DurableFailure: Sendable {
    /// The handler threw, or there is no key or value that the bytes stand for. After a time the run is tried again; nil if
    /// it has had all its attempts, and is dead.
    case threw(any Error, DurableRun, retryIn: Duration?)
    /// A run is no longer the worker's: it did not renew its lease in time, and another worker has taken over. The handler
    /// was cancelled, if it was still running.
    case leaseLost(DurableRun)
    /// A run is dead: the lease of its last attempt has expired, since the worker that had it was killed, say.
    case died(DurableRun)
    /// The store does not do what it is asked. It is asked again, more and more rarely; until it answers, nothing is claimed.
    case store(DurableError)
}

extension DurableFailure: CustomStringConvertible {
    /// What happened, in one sentence without a full stop.
    public var description: String {
        switch self {
        case .threw(let error, let run, let retryIn?):
            "attempt \(run.attempt) of \(run.summary) has failed, the next one comes in \(retryIn.shown): \(error)"
        case .threw(let error, let run, nil):
            "attempt \(run.attempt) of \(run.summary) has failed, and was the last: \(error)"
        case .leaseLost(let run): "the lease of \(run.summary) was lost in attempt \(run.attempt)"
        case .died(let run): "\(run.summary) is dead: its lease expired in attempt \(run.attempt), which was the last"
        case .store(let error): "the store has failed and is asked again: \(error)"
        }
    }
}

extension DurableRun {
    /// `run 12 (key lamp)`.
    var summary: String { "run \(id) (key \(String(decoding: key, as: UTF8.self)))" }
}

/// Bytes in the store that the program cannot read: another version of it wrote them, or another program.
public struct UndecodableBytes: Error, Hashable, Sendable, CustomStringConvertible {
    /// What cannot be read, and why.
    public let description: String
}

/// What the workers of this process have done.
public struct DurableCounters: Hashable, Sendable {
    /// How often a handler was started, or should have been and could not for its bytes.
    public var attempts = 0
    /// How many of these ended with an error.
    public var failures = 0
    /// How many runs were lost to other workers.
    public var lostLeases = 0

    /// Counters of a worker that has done nothing.
    public init() {}
}

extension Duration {
    /// The duration as people read it, to the millisecond.
    fileprivate var shown: String {
        let milliseconds = Int64(self / .milliseconds(1))
        return milliseconds < 1000 ? "\(milliseconds) ms" : "\(Double(milliseconds) / 1000) s"
    }
}
