internal import CLullCommand
internal import LullCharts
internal import LullCore

/// `lull simulate`: a trace goes through the engine in virtual time, where executions take none.
struct Simulation: ~Copyable {
    private let format: Settings.Format
    private let atEnd: Settings.AtEnd
    private let isCollecting: Bool
    private let settings: Settings
    /// What is to be drawn, if anything is.
    private var sampler: Sampler?
    private var trace: TraceReader
    private var engine: Engine<KeyNumber, ValueNumber>
    private var values = ValueTable()
    private var summary = Summary()
    private var output = Outlet(STDOUT_FILENO)

    /// Reads the trace to its end.
    static func run(_ trace: Argument, _ settings: Settings, _ setup: Setup) throws(Failure) -> Int32 {
        var simulation = Simulation(try TraceReader(trace), settings, setup)
        try simulation.run()
        return ExitStatus.success
    }

    private init(_ trace: consuming TraceReader, _ settings: Settings, _ setup: Setup) {
        self.trace = trace
        self.settings = settings
        sampler = settings.drawsStretch ? Sampler() : nil
        format = settings.format ?? .summary
        atEnd = settings.atEnd ?? .wait
        isCollecting = settings.combination == .collect
        engine = Engine(setup)
    }

    private mutating func run() throws(Failure) {
        var fault: Failure?
        do throws(Failure) {
            guard try replay() else { return }
            try finish()
        } catch {
            // What was due before the fault has happened.
            fault = error
        }
        _ = try output.drain()
        if let fault { throw fault }
    }

    /// Reads lines until there are no more.
    ///
    /// - Returns: False if nobody reads the output any more.
    private mutating func replay() throws(Failure) -> Bool {
        while true {
            if case .closed = try output.drain() { return false }
            guard try trace.fill() else { return true }
            while try trace.next() {
                for call in trace.calls {
                    take(call)
                    sampler?.note(call)
                    if output.text.count > 1 << 16, case .closed = try output.drain() { return false }
                }
            }
        }
    }

    private mutating func take(_ call: TraceCall) {
        let now = call.line.at
        // First what was due by now, so that executions come in the order of their instants.
        while engine.alarm <= now { perform(engine.advance(to: now, limit: 1024).more) }
        switch (call.line.operation, call.key) {
        case (.submit, let key?): submit(call.line, key)
        case (.submit, nil): preconditionFailure("a submit has a key, if only null")
        case (.flush, let key?): perform(engine.flush(key, at: now).more)
        case (.flush, nil): perform(engine.flush(at: now).more)
        case (.cancel, let key?):
            perform(engine.cancel(key, at: now).more)
            trace.keys.setPending(key, false)
        case (.cancel, nil):
            perform(engine.cancel(at: now).more)
            trace.keys.clearPending()
        }
    }

    private mutating func submit(_ line: TraceLine, _ key: KeyNumber) {
        trace.keys.submitted(key, at: line.at)
        let value = keep(line.value)
        let pending = engine.counters.pending
        let actions = engine.submit(value, for: key, at: line.at, wait: line.wait)
        if engine.counters.pending > pending {
            trace.keys.setPending(key, true)
            summary.longestBacklog = max(summary.longestBacklog, trace.keys.pendingCount)
        }
        if let displaced = actions.displaced { forget(displaced) }
        if !actions.more.isEmpty { perform(actions.more) }
    }

    /// Keeps a value, if it will be shown: only one format does.
    private mutating func keep(_ value: ByteSlice?) -> ValueNumber {
        guard format == .jsonl else { return .none }
        if let value { return values.add(value) }
        return Self.null.withUnsafeBufferPointer { values.add($0) }
    }

    private static let null = Array("null".utf8)

    private mutating func forget(_ value: ValueNumber) {
        if format == .jsonl { values.remove(value) }
    }

    private mutating func perform(_ actions: consuming [Action<KeyNumber, ValueNumber>]) {
        // Taken out from the end: who looks at them where they are copies and releases each.
        actions.reverse()
        while let action = actions.popLast() {
            switch consume action {
            case .start(let execution):
                // What its end lets start, such as the next part of a batch, comes before what other keys do.
                actions += start(execution).reversed()
            case .settle(_, let batch, _):
                for value in batch.values { forget(value) }
            case .cancel, .resume, .release:
                break
            }
        }
    }

    /// - Returns: What is to be done next.
    private mutating func start(
        _ execution: consuming Execution<KeyNumber, ValueNumber>
    ) -> [Action<KeyNumber, ValueNumber>] {
        if execution.edge != .leading { trace.keys.setPending(execution.key, false) }
        show(execution)
        for value in execution.batch.earlier { forget(value) }
        forget(execution.batch.value)
        return engine.ended(execution.run, .returned).1.more
    }

    private mutating func show(_ execution: Execution<KeyNumber, ValueNumber>) {
        guard format == .jsonl else { return summary.add(execution, last: trace.keys[execution.key].latest) }
        trace.keys.withText(of: execution.key) { key in
            ExecutionLine(execution).append(
                key: key, earlier: execution.batch.earlier.map { values[$0] }, value: values[execution.batch.value],
                isCollecting: isCollecting, to: &output.text)
        }
    }

    private mutating func finish() throws(Failure) {
        summary.span = trace.span
        let last = trace.span?.last ?? .origin
        switch atEnd {
        // Nothing is kept of a trace, and the option is refused.
        case .wait, .keep:
            while engine.counters.pending > 0 { perform(engine.advance(to: .farFuture, limit: 1024).more) }
        case .flush: perform(engine.flush(at: last).more)
        case .drop: perform(engine.cancel(at: last).more)
        }
        summary.submits = engine.counters.submitted
        summary.keys = trace.keys.entries.count
        switch format {
        case .json: summary.appendJSON(to: &output.text)
        case .jsonl: break
        default: summary.appendTable(to: &output.text)
        }
        try draw()
    }

    /// Draws what was asked for: in the output, and in a file.
    private mutating func draw() throws(Failure) {
        guard let stretch = sampler.flatMap({ Stretch($0, for: engine.setup.policy) }) else {
            if settings.picture != nil { throw .nothingToDraw(in: trace.name) }
            return
        }
        let policy = engine.setup.policy
        let name = "\(policy.kind == .debounce ? "debounce" : "throttle") \(DurationText.exact(policy.wait))"
        let key = trace.keys.text(of: stretch.key)
        if settings.showsDiagram {
            output.text.append("\n")
            Diagram.append(stretch, of: key, [(name, policy)], to: &output.text)
        }
        if let path = settings.picture {
            let timeline = Timeline(stretch, of: key, title: "What \(name) does to a burst", [(name, policy, 0)])
            try Picture(timeline).write(to: path)
        }
    }
}
