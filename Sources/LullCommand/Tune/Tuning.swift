internal import CLullSystem
internal import LullCore

/// `lull tune`: what each wait would have cost and saved on a recorded trace, and which one to choose.
struct Tuning: ~Copyable {
    private var trace: TraceReader
    private var keys = KeyTable()
    private var trials: Trials
    private var progress: Progress
    /// The candidates of each kind, debounces first.
    private let ranges: (debounce: Range<Int>, throttle: Range<Int>)

    /// Reads the trace to its end, and writes the report.
    static func run(_ trace: Argument, _ settings: Settings) throws(Failure) -> Int32 {
        let policies = try settings.candidates()
        var tuning = Tuning(try TraceReader(trace), policies, talliesKeys: settings.tunesKeys)
        try tuning.replay()
        let report = tuning.report(settings.targets)
        var output = Outlet(STDOUT_FILENO)
        if settings.format == .json {
            report.appendJSON(to: &output.text)
        } else {
            report.appendText(to: &output.text)
        }
        _ = try output.drain()
        return ExitStatus.success
    }

    private init(
        _ trace: consuming TraceReader, _ policies: (debounces: [Policy], throttles: [Policy]), talliesKeys: Bool
    ) {
        progress = Progress(size: trace.size)
        self.trace = trace
        trials = Trials(policies.debounces + policies.throttles, talliesKeys: talliesKeys)
        let middle = policies.debounces.count
        ranges = (0..<middle, middle..<middle + policies.throttles.count)
    }

    private mutating func replay() throws(Failure) {
        defer { progress.end() }
        while try trace.fill() {
            while let line = try trace.next() { take(line) }
            progress.show(trace.position, submits: trials.submits)
        }
        trials.finish()
    }

    private mutating func take(_ line: TraceLine) {
        switch line.operation {
        case .submit:
            trials.submit(Int(keys.number(of: line.key).value), at: line.at, wait: line.wait)
        case .flush:
            if let key = line.key {
                if let number = keys.existing(key) { trials.flush(Int(number.value), at: line.at) }
            } else {
                trials.flush(nil, at: line.at)
            }
        case .cancel:
            if let key = line.key {
                if let number = keys.existing(key) { trials.cancel(Int(number.value), at: line.at) }
            } else {
                trials.cancel(nil, at: line.at)
            }
        }
    }

    private func report(_ targets: Targets) -> TuneReport {
        var outcomes = trials.candidates.map { Outcome($0, submits: trials.submits) }
        outcomes.markEfficient(ranges.debounce)
        outcomes.markEfficient(ranges.throttle)
        let debounce = Choice.make(outcomes, ranges.debounce, targets)
        let throttle = Choice.make(outcomes, ranges.throttle, targets)
        let special = trials.keyTallies.map { tallies in
            SpecialKey.find(tallies, outcomes, ranges.debounce, debounce, targets) { number in
                keys.withText(of: KeyNumber(value: UInt32(number))) { Array($0) }
            }
        }
        return TuneReport(
            submits: trials.submits, keys: trials.keyCount,
            span: trace.span.map { $0.first.duration(to: $0.last).nanoseconds } ?? 0, outcomes: outcomes,
            tables: [("debounce", "--wait", ranges.debounce, debounce), ("throttle", "--throttle", ranges.throttle, throttle)],
            targets: targets, specialKeys: special)
    }
}

extension Settings {
    /// The policies that are compared.
    fileprivate func candidates() throws(Failure) -> (debounces: [Policy], throttles: [Policy]) {
        let waits = waits ?? Ladder.usual
        var debounces: [Policy] = []
        var throttles: [Policy] = []
        do {
            for wait in waits {
                // A wait that is longer than the longest allowed is no policy.
                if wait <= maxWait ?? .infinite {
                    debounces.append(
                        try .debounce(
                            wait: wait, maxWait: maxWait, edges: edges ?? .trailing, delayRule: delayRule ?? .restart,
                            maxCount: maxCount))
                }
                throttles.append(
                    try .throttle(interval: wait, edges: edges ?? [.leading, .trailing], maxCount: maxCount))
            }
        } catch PolicyError.maxCountWithoutTrailing {
            throw .usage("--max-count needs the trailing edge: without it nothing is ever pending", .tune)
        } catch {
            throw .usage("\(error)", .tune)
        }
        return (debounces, throttles)
    }
}
