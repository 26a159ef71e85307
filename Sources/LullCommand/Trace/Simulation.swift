internal import CLullCommand
internal import LullCharts
internal import LullCore
internal import LullEngine
internal import LullInspection
internal import LullTuning

/// `lull simulate`: runs a trace through the engine in virtual time, where executions take no time, or the time that is
/// given.
struct Simulation: ~Copyable {
    private let format: CommandOptions.Format
    private let atEnd: CommandOptions.EndPolicy
    private let options: CommandOptions
    /// Samples the trace if a picture was asked for.
    private var sampler: ExcerptSampler?
    private var trace: TraceReader
    private var engine: Engine<KeyNumber, ValueNumber>
    /// The executions that are running, if they take time.
    private var running: RunTimes<KeyNumber, ValueNumber>?
    private var values = ValueTable()
    private var summary = SimulationSummary()
    private var output = OutputBuffer(STDOUT_FILENO)

    static func run(_ trace: Argument, _ options: CommandOptions, _ setup: Setup) throws(Failure) -> Int32 {
        var simulation = Simulation(try TraceReader(trace), options, setup)
        try simulation.run()
        return ExitStatus.success
    }

    private init(_ trace: consuming TraceReader, _ options: CommandOptions, _ setup: Setup) {
        self.trace = trace
        self.options = options
        sampler = options.drawsExcerpt ? ExcerptSampler() : nil
        format = options.format ?? .summary
        atEnd = options.atEnd ?? .wait
        engine = Engine(setup)
        // With a limit, what starts is not what is due: executions have starts and ends, if they take no time.
        running = (options.runTime ?? setup.limit.map { _ in .zero }).map { RunTimes($0) }
        summary.hasRunTime = running != nil
    }

    private mutating func run() throws(Failure) {
        var fault: Failure?
        do throws(Failure) {
            guard try replay() else { return }
            try finish()
        } catch {
            // The executions before the fault are in the output: write them first.
            fault = error
        }
        _ = try output.drain()
        if let fault { throw fault }
    }

    /// - Returns: False if the output was closed.
    private mutating func replay() throws(Failure) -> Bool {
        while true {
            if case .closed = try output.drain() { return false }
            guard try trace.fill() else { return true }
            while try trace.next() {
                for call in trace.calls {
                    take(call)
                    sampler?.add(call)
                    if output.bytes.count > 1 << 16, case .closed = try output.drain() { return false }
                }
            }
        }
    }

    private mutating func take(_ call: TraceCall) {
        let now = call.line.at
        advance(to: now)
        switch (call.line.operation, call.key) {
        case (.submit, let key?): submit(call.line, key)
        case (.submit, nil): preconditionFailure("a submit has a key, if only null")
        case (.touch, let key?): perform(engine.touch(key, at: now, wait: call.line.wait).more, at: now)
        case (.touch, nil): break
        case (.flush, let key?): perform(engine.flush(key, at: now).more, at: now)
        case (.flush, nil): perform(engine.flush(at: now).more, at: now)
        case (.cancel, let key?):
            perform(engine.cancel(key, at: now).more, at: now)
            trace.keys.setPending(key, false)
        case (.cancel, nil):
            perform(engine.cancel(at: now).more, at: now)
            trace.keys.clearPending()
        }
    }

    /// Does what happens by now, before a call: executes what is due, and ends executions, in order of instants. At one
    /// instant what is due comes first.
    private mutating func advance(to now: CoreInstant) {
        guard running != nil else {
            while engine.alarm <= now { perform(engine.advance(to: now, limit: 1024).more, at: now) }
            return
        }
        while true {
            let end = running?.next ?? .farFuture
            if engine.alarm < .farFuture, engine.alarm <= min(end, now) {
                let next = engine.alarm
                perform(engine.advance(to: next, limit: 1024).more, at: next)
            } else if end <= now, let run = running?.removeFirst() {
                perform(self.end(run, .returned, at: end), at: end)
            } else {
                return
            }
        }
    }

    private mutating func submit(_ line: TraceLine, _ key: KeyNumber) {
        trace.keys.submitted(key, at: line.at)
        let value = store(line.value)
        let pending = engine.counters.pending
        let actions = engine.submit(value, for: key, at: line.at, wait: line.wait)
        if engine.counters.pending > pending {
            trace.keys.setPending(key, true)
            summary.longestBacklog = max(summary.longestBacklog, trace.keys.pendingCount)
        }
        if let displaced = actions.displaced { remove(displaced) }
        if !actions.more.isEmpty { perform(actions.more, at: line.at) }
    }

    /// Stores a value if the output format shows it.
    private mutating func store(_ value: ByteSlice?) -> ValueNumber {
        guard format == .jsonl else { return .none }
        if let value { return values.add(value) }
        return Self.null.withUnsafeBufferPointer { values.add($0) }
    }

    private static let null = Array("null".utf8)

    private mutating func remove(_ value: ValueNumber) {
        if format == .jsonl { values.remove(value) }
    }

    private mutating func perform(_ actions: consuming [Action<KeyNumber, ValueNumber>], at now: CoreInstant) {
        // Popped from the end, which moves the actions out; iterating would copy and release each.
        actions.reverse()
        while let action = actions.popLast() {
            switch consume action {
            case .start(let execution):
                // Executions that the end of this one starts, such as the next part of a batch, come before actions for
                // other keys.
                actions += start(execution, at: now).reversed()
            case .resolve(_, let batch, let fate):
                if case .skip = engine.setup.whileRunning, fate == .absorbed { summary.skipped += 1 }
                for value in batch.values { remove(value) }
            case .cancel(let run):
                // It ends at once: what follows from its end comes after what the same call has asked for.
                if let run = running?.remove(run) {
                    // One that takes as long as the time limit returns at its end.
                    let isOver = engine.state(of: run.execution.run) == .expired && running?.end(of: run) == now
                    actions.insert(contentsOf: end(run, isOver ? .returned : .threw, at: now).reversed(), at: 0)
                }
            case .replace, .overdue, .resume, .release:
                break
            }
        }
    }

    /// - Returns: The actions that follow from its end, if it has ended.
    private mutating func start(
        _ execution: consuming Execution<KeyNumber, ValueNumber>, at now: CoreInstant
    ) -> [Action<KeyNumber, ValueNumber>] {
        if execution.cause != .leading { trace.keys.setPending(execution.key, false) }
        if running != nil {
            summary.delayToStart.add(execution.at.duration(to: now).nanoseconds)
            running?.start(execution, at: now, latest: trace.keys[execution.key].latest)
            return []
        }
        show(execution, last: trace.keys[execution.key].latest)
        for value in execution.batch.earlier { remove(value) }
        remove(execution.batch.value)
        return engine.ended(execution.run, .returned).1.more
    }

    /// - Returns: The actions that follow.
    private mutating func end(
        _ run: RunTimes<KeyNumber, ValueNumber>.Run, _ ending: Ending, at now: CoreInstant
    ) -> [Action<KeyNumber, ValueNumber>] {
        let execution = run.execution
        let (verdict, actions) = engine.ended(execution.run, ending, returning: execution.batch, at: now)
        let outcome: StaticString
        switch verdict {
        case .executed: outcome = "executed"
        case .failed:
            outcome = "failed"
            summary.failed += 1
        // No value is compared here.
        case .superseded, .cancelled, .replaced, .absorbed:
            outcome = "cancelled"
            summary.cancelled += 1
        case .interrupted:
            outcome = "interrupted"
            summary.interrupted += 1
        }
        sampler?.add(
            .init(from: run.started, to: now, isCut: verdict != .executed),
            of: Int(execution.key.value))
        if format == .jsonl || verdict == .executed {
            show(execution, last: run.last, .init(started: run.started, ended: now, outcome: outcome))
        }
        // The values of an interrupted execution go on.
        if verdict != .interrupted { for value in execution.batch.values { remove(value) } }
        return actions.more
    }

    private mutating func show(
        _ execution: Execution<KeyNumber, ValueNumber>, last: CoreInstant?, _ timing: ExecutionLine.Timing? = nil
    ) {
        guard format == .jsonl else { return summary.add(execution, last: last) }
        trace.keys.withText(of: execution.key) { key in
            let line = ExecutionLine(due: execution.due, timing: timing)
            // No fault is possible: the values of a trace are JSON.
            if options.combining == .mergeJSON,
                let merged = try? JSONMergePatch.fold(execution.batch.values.map { values[$0] })
            {
                let none: [[UInt8]] = []
                line.append(key: key, earlier: none, value: merged, isCollecting: false, to: &output.bytes)
            } else {
                line.append(
                    key: key, earlier: execution.batch.earlier.map { values[$0] }, value: values[execution.batch.value],
                    isCollecting: options.combining == .collect, to: &output.bytes)
            }
        }
    }

    private mutating func finish() throws(Failure) {
        summary.span = trace.span
        let last = trace.span?.last ?? .origin
        // What happens before the end, also after the last call on a known key, happens at its own instant.
        advance(to: last)
        switch atEnd {
        // `keep` is refused without a store.
        case .wait, .keep:
            if running != nil { advance(to: .farFuture) }
            // What is due in the far future.
            while engine.counters.pending > 0 {
                perform(engine.advance(to: .farFuture, limit: 1024).more, at: .farFuture)
            }
        case .flush: perform(engine.flush(at: last).more, at: last)
        case .drop: perform(engine.cancel(at: last).more, at: last)
        }
        // What waits for the limit starts, and what is still running ends.
        if running != nil {
            while running?.isEmpty == false || engine.alarm < .farFuture { advance(to: .farFuture) }
        }
        summary.joined = engine.joinedCount
        summary.submits = engine.counters.submitted
        summary.keys = trace.keys.entries.count
        switch format {
        case .json: summary.json.appendLine(to: &output.bytes)
        case .jsonl: break
        default: summary.appendTable(to: &output.bytes)
        }
        try draw()
    }

    /// Draws the pictures that were asked for: in the output, and in a file.
    private mutating func draw() throws(Failure) {
        guard
            let excerpt = sampler.flatMap({
                TraceExcerpt($0, for: engine.setup.policy, runTime: options.runTime ?? .zero)
            })
        else {
            if options.picture != nil { throw .nothingToDraw(in: trace.name) }
            return
        }
        let policy = engine.setup.policy
        let name = "\(policy.kind == .debounce ? "debounce" : "throttle") \(DurationText.exact(policy.wait))"
        let key = trace.keys.text(of: excerpt.key)
        if options.showsDiagram {
            output.bytes.append("\n")
            MarbleDiagram.append(excerpt, of: key, [(name, policy)], to: &output.bytes)
        }
        if let path = options.picture {
            let title = "What \(name)\(policy.spacingTitle) does to a burst"
            let timeline = Timeline(excerpt, of: key, title: title, [(name, policy, 0)])
            try Picture(timeline).write(to: path)
        }
    }
}

/// The executions that are running in a simulation where each takes the same time: a queue in the order of their ends.
struct RunTimes<Key: Hashable, Value> {
    struct Run {
        let execution: Execution<Key, Value>
        let started: CoreInstant
        /// The instant of the last submit behind it, if it is known.
        let last: CoreInstant?
    }

    let length: CoreDuration
    /// By their numbers, which grow in the order of their starts; that is the order of their ends, too.
    private var runs: [UInt64: Run] = [:]
    /// The least number that may be running, and the latest one.
    private var (oldest, newest): (UInt64, UInt64) = (0, 0)

    init(_ length: CoreDuration) {
        self.length = length
    }

    var isEmpty: Bool { runs.isEmpty }

    /// - Parameter latest: The instant of the latest submit of its key, which may be newer than the execution.
    mutating func start(_ execution: Execution<Key, Value>, at now: CoreInstant, latest: CoreInstant) {
        let last = latest <= execution.at ? latest : nil
        runs[execution.run.serial] = Run(execution: execution, started: now, last: last)
        newest = execution.run.serial
    }

    /// When the next execution ends; the far future if none is running.
    var next: CoreInstant {
        mutating get {
            // Some have ended early.
            while oldest < newest, runs[oldest] == nil { oldest += 1 }
            return runs[oldest].map { end(of: $0) } ?? .farFuture
        }
    }

    /// When an execution ends that nothing stops.
    func end(of run: Run) -> CoreInstant { run.started.advanced(by: length) }

    /// Removes the execution that ends next, if there is one.
    mutating func removeFirst() -> Run? {
        _ = next
        return runs.removeValue(forKey: oldest)
    }

    mutating func remove(_ run: RunID) -> Run? { runs.removeValue(forKey: run.serial) }
}
