/// A failure in a worker, as passed to `onFailure`. The worker goes on in every case.
@nonexhaustive
public enum DurableFailure: Sendable {
    /// The handler threw, or the bytes of the key or a value could not be decoded
    /// (``DurableError/undecodable(_:)``). The run is tried again after `retryIn`; nil if that was its last attempt and
    /// it is dead.
    case threw(any Error, DurableRun, retryIn: Duration?)
    /// The worker did not renew the lease of a run in time, and another worker has taken over. The handler was
    /// cancelled if it was still running.
    case leaseLost(DurableRun)
    /// A run is dead because the lease of its last attempt has expired, for example because its worker was killed.
    case died(DurableRun)
    /// The handler of a run was told to stop when its time limit was over, and has gone on for as long again. Told
    /// once.
    case overdue(DurableRun, timeLimit: Duration)
    /// The handler of a run has gone on for a lease after its time limit: the worker does not renew the lease any more,
    /// so that another one may take the run over. The handler keeps its slot until it ends.
    case leaseGivenUp(DurableRun)
    /// A call of the store failed. The worker repeats it at growing intervals, and claims nothing until it succeeds.
    case store(DurableError)
}

extension DurableFailure: CustomStringConvertible {
    /// The failure in one sentence without a full stop, for a log or a message.
    public var description: String {
        switch self {
        case .threw(let error, let run, let retryIn?):
            "attempt \(run.attempt) of \(run.summary) has failed, the next one comes in \(retryIn.text): \(error)"
        case .threw(let error, let run, nil):
            "attempt \(run.attempt) of \(run.summary) has failed, and was the last: \(error)"
        case .leaseLost(let run): "the lease of \(run.summary) was lost in attempt \(run.attempt)"
        case .died(let run): "\(run.summary) is dead: its lease expired in attempt \(run.attempt), which was the last"
        case .overdue(let run, let limit):
            "\(run.summary) is overdue in attempt \(run.attempt): its handler goes on after twice its time limit of "
                + limit.text
        case .leaseGivenUp(let run):
            "the handler of \(run.summary) does not react: another worker may take the run over, and its slot stays "
                + "taken"
        case .store(let error): "the store has failed and is asked again: \(error)"
        }
    }
}

extension DurableFailure {
    /// What has failed, without keys, values and errors.
    var kind: String {
        switch self {
        case .threw: "an attempt has failed"
        case .leaseLost: "a lease was lost"
        case .died: "a run is dead"
        case .overdue: "a run is overdue"
        case .leaseGivenUp: "a handler does not react"
        case .store: "a store has failed"
        }
    }
}

extension DurableRun {
    /// Returns the key as the debouncer has it, or nil if no key of the type has its bytes: for logs of a
    /// ``DurableFailure``.
    public func key<Key: DurableKey>(as type: Key.Type) -> Key? {
        Key(durableBytes: key)
    }
}

/// The counts of the workers that were started from a debouncer: ``DurableCoalescer/counters``.
public struct DurableCounters: Hashable, Sendable {
    /// The number of handlers that were started, and of runs that could not be decoded.
    public var attempts = 0
    /// The number of attempts that ended with an error.
    public var failures = 0
    /// The number of runs that other workers took over because a lease was not renewed in time.
    public var lostLeases = 0
    /// The number of handlers that were cancelled for a newer value and threw: the values of their runs went back.
    public var restarted = 0

    /// The number of handlers that have gone on for as long again as their time limit.
    public var overdue = 0

    /// Creates counters of nothing: to count from the beginning.
    public init() {}
}
