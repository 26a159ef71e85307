internal import CLullCommand
internal import LullCharts
internal import LullCore

/// `lull simulate`: runs a trace through the engine in virtual time, where executions take no time.
struct Simulation: ~Copyable {
    private let format: CommandOptions.Format
    private let atEnd: CommandOptions.AtEnd
    private let isCollecting: Bool
    private let options: CommandOptions
    /// Samples the trace if a picture was asked for.
    private var sampler: Sampler?
    private var trace: TraceReader
    private var engine: Engine<KeyNumber, ValueNumber>
    private var values = ValueTable()
    private var summary = Summary()
    private var output = OutputBuffer(STDOUT_FILENO)

    /// Reads and simulates the whole trace.
    static func run(_ trace: Argument, _ options: CommandOptions, _ setup: Setup) throws(Failure) -> Int32 {
        var simulation = Simulation(try TraceReader(trace), options, setup)
        try simulation.run()
        return ExitStatus.success
    }

    private init(_ trace: consuming TraceReader, _ options: CommandOptions, _ setup: Setup) {
        self.trace = trace
        self.options = options
        sampler = options.drawsExcerpt ? Sampler() : nil
        format = options.format ?? .summary
        atEnd = options.atEnd ?? .wait
        isCollecting = options.policy.combination == .collect
        engine = Engine(setup)
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

    /// Reads and replays all lines.
    ///
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
        // Execute first what was due by now, so that executions come in order of their instants.
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
        let value = store(line.value)
        let pending = engine.counters.pending
        let actions = engine.submit(value, for: key, at: line.at, wait: line.wait)
        if engine.counters.pending > pending {
            trace.keys.setPending(key, true)
            summary.longestBacklog = max(summary.longestBacklog, trace.keys.pendingCount)
        }
        if let displaced = actions.displaced { remove(displaced) }
        if !actions.more.isEmpty { perform(actions.more) }
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

    private mutating func perform(_ actions: consuming [Action<KeyNumber, ValueNumber>]) {
        // Popped from the end, which moves the actions out; iterating would copy and release each.
        actions.reverse()
        while let action = actions.popLast() {
            switch consume action {
            case .start(let execution):
                // Executions that the end of this one starts, such as the next part of a batch, come before actions for other keys.
                actions += start(execution).reversed()
            case .settle(_, let batch, _):
                for value in batch.values { remove(value) }
            case .cancel, .resume, .release:
                break
            }
        }
    }

    /// - Returns: The actions that follow from its end.
    private mutating func start(
        _ execution: consuming Execution<KeyNumber, ValueNumber>
    ) -> [Action<KeyNumber, ValueNumber>] {
        if execution.edge != .leading { trace.keys.setPending(execution.key, false) }
        show(execution)
        for value in execution.batch.earlier { remove(value) }
        remove(execution.batch.value)
        return engine.ended(execution.run, .returned).1.more
    }

    private mutating func show(_ execution: Execution<KeyNumber, ValueNumber>) {
        guard format == .jsonl else { return summary.add(execution, last: trace.keys[execution.key].latest) }
        trace.keys.withText(of: execution.key) { key in
            ExecutionLine(execution).append(
                key: key, earlier: execution.batch.earlier.map { values[$0] }, value: values[execution.batch.value],
                isCollecting: isCollecting, to: &output.bytes)
        }
    }

    private mutating func finish() throws(Failure) {
        summary.span = trace.span
        let last = trace.span?.last ?? .origin
        switch atEnd {
        // `keep` is refused without a store.
        case .wait, .keep:
            while engine.counters.pending > 0 { perform(engine.advance(to: .farFuture, limit: 1024).more) }
        case .flush: perform(engine.flush(at: last).more)
        case .drop: perform(engine.cancel(at: last).more)
        }
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
        guard let excerpt = sampler.flatMap({ TraceExcerpt($0, for: engine.setup.policy) }) else {
            if options.picture != nil { throw .nothingToDraw(in: trace.name) }
            return
        }
        let policy = engine.setup.policy
        let name = "\(policy.kind == .debounce ? "debounce" : "throttle") \(DurationText.exact(policy.wait))"
        let key = trace.keys.text(of: excerpt.key)
        if options.showsDiagram {
            output.bytes.append("\n")
            Diagram.append(excerpt, of: key, [(name, policy)], to: &output.bytes)
        }
        if let path = options.picture {
            let title = "What \(name)\(policy.spacingTitle) does to a burst"
            let timeline = Timeline(excerpt, of: key, title: title, [(name, policy, 0)])
            try Picture(timeline).write(to: path)
        }
    }
}
