internal import CLullCommand
internal import LullCharts
internal import LullCore
internal import LullInspection
internal import LullTuning

/// `lull tune`: what each wait would have cost and saved on a recorded trace, and which one to choose.
struct Tuning: ~Copyable {
    private var trace: TraceReader
    private var trials: any TraceTrials
    /// Samples the trace if a picture was asked for.
    private var sampler: ExcerptSampler?
    private var progress: ProgressLine
    /// The candidates of each kind, debounces first.
    private let ranges: (debounce: Range<Int>, throttle: Range<Int>)

    static func run(_ trace: Argument, _ options: CommandOptions) throws(Failure) -> Int32 {
        var tuning = try Tuning(try TraceReader(trace), try options.candidates(), options)
        try tuning.replay()
        let report = tuning.report(options.targets)
        let others = report.policiesToDraw.map(\.policy)
        let excerpt = report.policyToShow.flatMap { policy in
            tuning.sampler.flatMap { TraceExcerpt($0, for: policy, and: others) }
        }
        if let path = options.picture {
            if report.submits == 0 { throw .nothingToDraw(in: tuning.trace.name) }
            let chart = report.chart(source: "Trace: \(tuning.trace.name)", options.targets)
            let timeline = excerpt.map { excerpt in
                Timeline(
                    excerpt, of: tuning.trace.keys.text(of: excerpt.key),
                    title: "What a wait\(report.policyToShow?.spacingTitle ?? "") does to a burst",
                    report.policiesToDraw)
            }
            try (timeline.map { Picture(chart, above: $0) } ?? Picture(chart)).write(to: path)
        }
        var output = OutputBuffer(STDOUT_FILENO)
        if options.format == .json {
            report.json.appendLine(to: &output.bytes)
        } else {
            report.appendText(style: options.style, to: &output.bytes)
            if options.showsDiagram, let excerpt {
                output.bytes.append("\n")
                let policies = report.policiesToDraw.map { ($0.name, $0.policy) }
                MarbleDiagram.append(excerpt, of: tuning.trace.keys.text(of: excerpt.key), policies, to: &output.bytes)
            }
        }
        _ = try output.drain()
        return ExitStatus.success
    }

    private init(
        _ trace: consuming TraceReader, _ policies: (debounces: [Policy], throttles: [Policy]),
        _ options: CommandOptions
    ) throws(Failure) {
        sampler = options.drawsExcerpt ? ExcerptSampler() : nil
        progress = ProgressLine(size: trace.size)
        self.trace = trace
        let all = policies.debounces + policies.throttles
        do throws(PolicyError) {
            if let limit = options.policy.rateLimit {
                trials = try LimitedTrials(all, limit, talliesKeys: options.tunesKeys)
            } else {
                trials = Trials(all, talliesKeys: options.tunesKeys)
            }
        } catch {
            throw Failure(error, .tune)
        }
        let middle = policies.debounces.count
        ranges = (0..<middle, middle..<middle + policies.throttles.count)
    }

    private mutating func replay() throws(Failure) {
        defer { progress.end() }
        while try trace.fill() {
            while try trace.next() {
                for call in trace.calls {
                    trials.take(call.line, call.key.map { Int($0.value) })
                    sampler?.add(call)
                }
            }
            progress.show(trace.position, submits: trials.submits)
        }
        trials.finish()
    }

    private func report(_ targets: Targets) -> TuneReport {
        var results = trials.candidates.map { TrialResult($0, submits: trials.submits) }
        results.markEfficient(ranges.debounce)
        results.markEfficient(ranges.throttle)
        let span = trace.span.map { $0.first.duration(to: $0.last).nanoseconds } ?? 0
        let insufficiency =
            trials.submits < OutlierKey.leastSubmits
            ? "at least \(OutlierKey.leastSubmits) submits are needed for one"
            : span == 0 ? "all submits came at one instant" : nil
        func suggestion(_ range: Range<Int>) -> Suggestion? {
            insufficiency == nil ? Suggestion.make(results, range, targets) : nil
        }
        let debounce = suggestion(ranges.debounce)
        let outliers = trials.keyTallies.map { tallies in
            OutlierKey.find(tallies, results, ranges.debounce, debounce, targets) {
                trace.keys.text(of: $0)
            }
        }
        return TuneReport(
            submits: trials.submits, keys: trials.keyCount, span: span, results: results,
            tables: [
                ("debounce", "--wait", ranges.debounce, debounce),
                ("throttle", "--throttle", ranges.throttle, suggestion(ranges.throttle)),
            ].map { name, option, range, suggestion in
                (name, option, range, suggestion.flatMap { results[$0.index].isWorthwhile ? $0 : nil })
            },
            insufficiency: insufficiency, outlierKeys: outliers)
    }
}

extension CommandOptions {
    /// Returns the policies to compare. With a spacing there are no throttles: it is a debounce already that limits the
    /// rate.
    fileprivate func candidates() throws(Failure) -> (debounces: [Policy], throttles: [Policy]) {
        var debounce = policy
        var throttle = policy
        throttle.maxWait = nil
        throttle.delayRule = nil
        var debounces: [Policy] = []
        var throttles: [Policy] = []
        for wait in waits ?? WaitSeries.standard {
            // A wait above the maximum makes no policy.
            if wait <= policy.maxWait ?? .infinite {
                debounce.wait = wait
                debounces.append(try debounce.policy(for: .tune))
            }
            if policy.spacing == nil {
                throttle.throttle = wait
                throttles.append(try throttle.policy(for: .tune))
            }
        }
        if debounces.isEmpty, throttles.isEmpty {
            throw .usage("--max-wait is shorter than all waits of the table; give shorter ones with --waits", .tune)
        }
        return (debounces, throttles)
    }
}

/// A progress line on a terminal, for a long trace.
struct ProgressLine {
    private let size: Int?
    private let clock = MonotonicClock()
    /// When to update it: after the first second, and then ten times a second.
    private var next: CoreInstant
    private var hasShown = false

    /// - Parameter size: The number of bytes to read, if known.
    init(size: Int?) {
        self.size = size
        next = isatty(STDERR_FILENO) != 0 ? clock.now.advanced(by: .seconds(1)) : .farFuture
    }

    mutating func show(_ position: Int, submits: Int) {
        let now = clock.now
        guard next <= now else { return }
        next = now.advanced(by: .milliseconds(100))
        hasShown = true
        var line = "\r\u{1B}[K"
        if let size, size > 0 {
            let width = 30
            let done = min(width, position * width / size)
            line += "[\(String(repeating: "#", count: done))\(String(repeating: ".", count: width - done))] "
            line += "\(min(100, position * 100 / size)) %, "
        }
        write(line + "\(submits) submits")
    }

    mutating func end() {
        if hasShown { write("\r\u{1B}[K") }
    }

    private func write(_ text: String) {
        var log = OutputBuffer(STDERR_FILENO)
        log.bytes.append(string: text)
        // A failure to show progress does not concern the result.
        _ = try? log.drain()
    }
}
