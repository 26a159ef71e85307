internal import CLullCommand
internal import LullCharts
internal import LullCore

/// `lull tune`: what each wait would have cost and saved on a recorded trace, and which one to choose.
struct Tuning: ~Copyable {
    private var trace: TraceReader
    private var trials: Trials
    /// What is to be drawn, if anything is.
    private var sampler: Sampler?
    private var progress: Progress
    /// The candidates of each kind, debounces first.
    private let ranges: (debounce: Range<Int>, throttle: Range<Int>)

    /// Reads the trace to its end, and writes the report.
    static func run(_ trace: Argument, _ settings: Settings) throws(Failure) -> Int32 {
        var tuning = Tuning(try TraceReader(trace), try settings.candidates(), settings)
        try tuning.replay()
        let report = tuning.report(settings.targets)
        let others = report.policiesToDraw.map(\.policy)
        let stretch = report.policyToShow.flatMap { policy in
            tuning.sampler.flatMap { Stretch($0, for: policy, and: others) }
        }
        if let path = settings.picture {
            if report.submits == 0 { throw .nothingToDraw(in: tuning.trace.name) }
            let chart = report.chart(source: "lull tune \(tuning.trace.name)")
            let timeline = stretch.map { stretch in
                Timeline(
                    stretch, of: tuning.trace.keys.text(of: stretch.key), title: "What a wait does to a burst",
                    report.policiesToDraw)
            }
            try (timeline.map { Picture(chart, above: $0) } ?? Picture(chart)).write(to: path)
        }
        var output = Outlet(STDOUT_FILENO)
        if settings.format == .json {
            report.appendJSON(to: &output.text)
        } else {
            report.appendText(to: &output.text)
            if settings.showsDiagram, let stretch {
                output.text.append("\n")
                let policies = report.policiesToDraw.map { ($0.name, $0.policy) }
                Diagram.append(stretch, of: tuning.trace.keys.text(of: stretch.key), policies, to: &output.text)
            }
        }
        _ = try output.drain()
        return ExitStatus.success
    }

    private init(
        _ trace: consuming TraceReader, _ policies: (debounces: [Policy], throttles: [Policy]),
        _ settings: Settings
    ) {
        sampler = settings.drawsStretch ? Sampler() : nil
        progress = Progress(size: trace.size)
        self.trace = trace
        trials = Trials(policies.debounces + policies.throttles, talliesKeys: settings.tunesKeys)
        let middle = policies.debounces.count
        ranges = (0..<middle, middle..<middle + policies.throttles.count)
    }

    private mutating func replay() throws(Failure) {
        defer { progress.end() }
        while try trace.fill() {
            while try trace.next() {
                for call in trace.calls {
                    take(call)
                    sampler?.note(call)
                }
            }
            progress.show(trace.position, submits: trials.submits)
        }
        trials.finish()
    }

    private mutating func take(_ call: TraceCall) {
        let (line, key) = (call.line, call.key.map { Int($0.value) })
        switch (line.operation, key) {
        case (.submit, let key?): trials.submit(key, at: line.at, wait: line.wait)
        case (.submit, nil): preconditionFailure("a submit has a key, if only null")
        case (.flush, _): trials.flush(key, at: line.at)
        case (.cancel, _): trials.cancel(key, at: line.at)
        }
    }

    private func report(_ targets: Targets) -> TuneReport {
        var outcomes = trials.candidates.map { Outcome($0, submits: trials.submits) }
        outcomes.markEfficient(ranges.debounce)
        outcomes.markEfficient(ranges.throttle)
        let span = trace.span.map { $0.first.duration(to: $0.last).nanoseconds } ?? 0
        let objection: TuneReport.Objection? =
            trials.submits < SpecialKey.fewest ? .fewSubmits : span == 0 ? .oneInstant : nil
        let debounce = objection == nil ? Self.choose(outcomes, ranges.debounce, targets) : nil
        let throttle = objection == nil ? Self.choose(outcomes, ranges.throttle, targets) : nil
        let special = trials.keyTallies.map { tallies in
            SpecialKey.find(tallies, outcomes, ranges.debounce, debounce, targets) {
                trace.keys.text(of: $0)
            }
        }
        return TuneReport(
            submits: trials.submits, keys: trials.keyCount, span: span, outcomes: outcomes,
            tables: [
                ("debounce", "--wait", ranges.debounce, debounce),
                ("throttle", "--throttle", ranges.throttle, throttle),
            ],
            objection: objection, specialKeys: special)
    }

    private static func choose(_ outcomes: [Outcome], _ indices: Range<Int>, _ targets: Targets) -> Choice? {
        // Where all waits save the same there is no knee: the shortest does.
        if !targets.areGiven, let first = indices.first, outcomes.isFlat(indices) {
            return Choice(index: first, reason: .most)
        }
        return Choice.make(outcomes, indices, targets)
    }
}

extension [Outcome] {
    /// Whether all waits of a range save the same, as it is shown.
    func isFlat(_ indices: Range<Int>) -> Bool {
        let savings = self[indices].map(\.saved)
        return (savings.max() ?? 0) - (savings.min() ?? 0) < 0.001
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
