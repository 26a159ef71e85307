internal import LullCore

/// Keeps the first calls of the first keys of a trace, for an excerpt that is drawn when everything has been read. The
/// memory is bounded, however long the trace.
struct ExcerptSampler {
    struct Call {
        let at: CoreInstant
        let operation: TraceLine.Operation
        let wait: CoreDuration?
    }

    /// When the handler of a key ran, in a simulation in which that takes time.
    struct Run {
        let from: CoreInstant
        let to: CoreInstant
        /// Whether it was interrupted or cancelled.
        let isCut: Bool
    }

    private static let keyLimit = 64
    private static let callLimit = 1024

    private var calls: [[Call]] = []
    private var runs: [[Run]] = Array(repeating: [], count: keyLimit)

    mutating func add(_ call: TraceCall) {
        let line = call.line
        let sample = Call(at: line.at, operation: line.operation, wait: line.wait)
        guard let key = call.key.map({ Int($0.value) }) else {
            for key in calls.indices { append(sample, to: key) }
            return
        }
        guard key < Self.keyLimit else { return }
        while calls.count <= key { calls.append([]) }
        append(sample, to: key)
    }

    private mutating func append(_ call: Call, to key: Int) {
        if calls[key].count < Self.callLimit { calls[key].append(call) }
    }

    mutating func add(_ run: Run, of key: Int) {
        if key < Self.keyLimit, runs[key].count < Self.callLimit { runs[key].append(run) }
    }

    /// The key with the most submits, its calls and its executions; nil if there are no submits.
    var busiest: (key: Int, calls: [Call], runs: [Run])? {
        let submits = calls.map { $0.count { $0.operation == .submit } }
        guard let most = submits.max(), most > 0, let key = submits.firstIndex(of: most) else { return nil }
        return (key, calls[key], runs[key])
    }
}

/// A part of one key's trace that shows what a policy does to bursts.
struct TraceExcerpt {
    /// An execution in a picture.
    struct Mark {
        let at: CoreInstant
        /// The instant of the first submit behind it.
        let first: CoreInstant
    }

    let key: Int
    /// Its first submit.
    let start: CoreInstant
    let from: CoreInstant
    let to: CoreInstant
    private let calls: [ExcerptSampler.Call]
    /// When handlers ran, in the order of the starts; empty unless that takes time.
    let runs: [ExcerptSampler.Run]

    /// The greatest length of an excerpt in waits of the policy: room for a few bursts with visible pauses.
    private static let waits: Int64 = 24
    /// The length up to which a long spacing, or handlers that run for long, extend it: room for a few executions.
    private static let spacings: Int64 = 4

    /// Creates the excerpt with the most to see, which starts with a burst and ends with the trace at the latest.
    /// Returns nil if nothing was submitted.
    ///
    /// - Parameters:
    ///   - others: Other policies that the picture shows.
    ///   - runTime: How long executions take.
    init?(_ sampler: ExcerptSampler, for policy: Policy, and others: [Policy] = [], runTime: CoreDuration = .zero) {
        guard let (key, calls, runs) = sampler.busiest else { return nil }
        self.key = key
        self.calls = calls
        let wait = max(policy.wait, .milliseconds(1))
        let span = max(
            Self.length(wait, Self.waits), Self.length(policy.spacing, Self.spacings),
            Self.length(runTime, Self.spacings))
        let submits = calls.filter { $0.operation == .submit }.map(\.at)
        let marks = Self.executions(of: calls, by: policy)
        var best = (score: -1, start: submits[0])
        var end = 0
        var mark = 0
        for (index, start) in submits.enumerated() {
            if index > 0, submits[index - 1].duration(to: start) < wait { continue }
            let stop = start.advanced(by: span)
            while end < submits.count, submits[end] < stop { end += 1 }
            while mark < marks.count, marks[mark].at < start { mark += 1 }
            let executions = marks[mark...].prefix { $0.at < stop }.count
            // Prefers a few executions with many submits behind them, but not more than can be told apart.
            let score = 10 * min(executions, 5) + min(end - index, 40)
            if score > best.score { best = (score, start) }
        }
        start = best.start
        // After the last event of all policies, only a little room is needed.
        let dues = ([policy] + others).compactMap { Self.executions(of: calls, by: $0).last?.at }
        let used = start.duration(to: (submits.suffix(1) + dues + runs.map(\.to)).max() ?? start)
        let room = CoreDuration.nanoseconds(max(used.nanoseconds / 16, wait.nanoseconds / 8))
        let length = used < span ? min(span, .nanoseconds(used.nanoseconds + room.nanoseconds)) : span
        // Leave a little room in front, so that the first submit is not at the edge.
        from = start.advanced(by: .nanoseconds(-(length.nanoseconds / 72)))
        let (from, to) = (from, from.advanced(by: length))
        self.to = to
        self.runs = runs.filter { $0.from < to && $0.to > from }.sorted { $0.from < $1.from }
    }

    private static func length(_ step: CoreDuration, _ count: Int64) -> CoreDuration {
        let (length, overflow) = step.nanoseconds.multipliedReportingOverflow(by: count)
        return overflow ? .infinite : .nanoseconds(length)
    }

    var submits: [CoreInstant] {
        calls.filter { $0.operation == .submit && $0.at >= from && $0.at < to }.map(\.at)
    }

    /// The instant of its first submit in seconds, to the millisecond.
    var startText: String {
        DecimalSeconds.text(CoreInstant(nanoseconds: start.nanoseconds / 1_000_000 * 1_000_000))
    }

    /// The executions in as few rows as do not overlap.
    var rowsOfRuns: [[ExcerptSampler.Run]] {
        var rows: [[ExcerptSampler.Run]] = []
        for run in runs {
            if let free = rows.firstIndex(where: { $0.last.map { $0.to <= run.from } ?? true }) {
                rows[free].append(run)
            } else {
                rows.append([run])
            }
        }
        return rows
    }

    /// Returns its executions under a policy, including those of values that are pending at its end.
    func executions(by policy: Policy) -> [Mark] {
        Self.executions(of: calls, by: policy).filter { $0.at >= from && $0.first < to }
    }

    private static func executions(of calls: [ExcerptSampler.Call], by policy: Policy) -> [Mark] {
        var gate = Gate()
        var marks: [Mark] = []
        func add(_ due: Gate.Due?) {
            if let due { marks.append(Mark(at: due.at, first: due.first)) }
        }
        for call in calls {
            add(gate.settle(at: call.at, by: policy))
            switch call.operation {
            case .flush: add(gate.flush(at: call.at, by: policy))
            case .cancel: gate.close(at: call.at, by: policy)
            case .touch: gate.touch(at: call.at, wait: call.wait, by: policy)
            case .submit:
                switch gate.submit(at: call.at, wait: call.wait, by: policy) {
                case .lead: marks.append(Mark(at: call.at, first: call.at))
                case .complete(let due): add(due)
                case .join, .fill, .absorb: break
                }
            }
        }
        add(gate.settle(at: .farFuture, by: policy))
        return marks
    }
}

extension Policy {
    /// The spacing in the title of a picture; empty if there is none.
    var spacingTitle: String { spacing > .zero ? " with spacing \(DurationText.exact(spacing))" : "" }
}
