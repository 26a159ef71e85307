internal import Lull
package import LullCore

/// A store that keeps rows, and leaves it to Swift what becomes of them: it brings atomic steps on them and a wake
/// signal, and has all calls from here.
package protocol RowStore: KeyStepStore where Table: StoreTable {
    /// Makes one atomic step, which is committed before this returns.
    ///
    /// - Parameters:
    ///   - access: What the step does, as far as it is known before.
    ///   - body: The step. It may run several times, and has no effect but on the table.
    ///   - finish: Gets the answer that counts, before the caller does, with the wake signal of this process.
    func step<Raw: Sendable, Answer: Sendable>(
        _ access: StepAccess, _ body: @escaping @Sendable (inout Table) throws(DurableError) -> Raw,
        then finish: @escaping @Sendable (Raw, inout WakeSignal) -> Answer
    ) async throws(DurableError) -> Answer

    /// Waits until the wake signal is given after a mark, at most for a time.
    func waitForSignal(
        _ subject: WakeSignal.Subject, in namespace: String, after mark: Int64, atMost time: Duration
    ) async throws(DurableError)
}

extension RowStore {
    /// Makes a step whose answer concerns nobody but the caller.
    fileprivate func step<Answer: Sendable>(
        _ access: StepAccess, _ body: @escaping @Sendable (inout Table) throws(DurableError) -> Answer
    ) async throws(DurableError) -> Answer {
        try await step(access, body, then: { answer, _ in answer })
    }

    package func step<Answer: Sendable>(
        _ kind: StepAccess.Kind, on key: [UInt8], in namespace: String,
        _ body: @escaping @Sendable (inout Table, DurableNamespace) throws(DurableError) -> Answer
    ) async throws(DurableError) -> Answer {
        try await step(kind, in: namespace, keys: [key], body)
    }

    /// Makes a step in a namespace, whose answer concerns nobody but the caller.
    private func step<Answer: Sendable>(
        _ kind: StepAccess.Kind, in name: String, keys: [[UInt8]] = [],
        _ body: @escaping @Sendable (inout Table, DurableNamespace) throws(DurableError) -> Answer
    ) async throws(DurableError) -> Answer {
        try await step(StepAccess(kind, name, keys: keys)) { table throws(DurableError) in
            let namespace = try table.namespace(name)
            return try body(&table, namespace)
        }
    }

    // MARK: - Namespaces

    package func open(
        _ namespace: String, _ rules: DurableRules?, changingPolicy: Bool
    ) async throws(DurableError) -> PolicyOpening {
        try await step(StepAccess(.writes, namespace)) { table throws(DurableError) in
            try table.open(namespace, rules, changingPolicy: changingPolicy)
        } then: { opening, signal in
            // A worker may wait for what a limit, or a slot, has kept from it.
            if rules != nil { signal.signal(.farPast, in: namespace) }
            return opening
        }
    }

    package func forget(_ namespace: String) async throws(DurableError) {
        while try await !step(
            StepAccess(.writes, namespace), { table throws(DurableError) in try table.forgetSome(of: namespace) })
        {}
    }

    @discardableResult
    package func pause(
        _ namespace: String, reason: String?, for time: CoreDuration?
    ) async throws(DurableError) -> DurablePause {
        try await step(StepAccess(.writes, namespace)) { table throws(DurableError) in
            try table.pause(namespace, reason: reason, for: time)
        }
    }

    @discardableResult
    package func resume(_ namespace: String) async throws(DurableError) -> Bool {
        try await step(StepAccess(.writes, namespace)) { table throws(DurableError) in
            try table.resume(namespace)
        } then: { wasPaused, signal in
            signal.signalResumption(in: namespace)
            return wasPaused
        }
    }

    // MARK: - Producers

    package func submit(
        _ batch: [DurableSubmission]
    ) async throws(DurableError) -> [Result<DurableReceipt, DurableError>] {
        let names = Set(batch.map(\.namespace))
        let access = StepAccess(
            .writes, names.count == 1 ? names.first : nil, keys: batch.map(\.key), tokens: batch.compactMap(\.token))
        return try await step(access) { table throws(DurableError) in
            batch.map { submission in Result { () throws(DurableError) in try table.submit(submission) } }
        }
    }

    @discardableResult
    package func change(
        _ change: DurableChange, _ target: ChangeTarget, in namespace: String
    ) async throws(DurableError) -> ChangeSum {
        switch target {
        case .keys(let keys):
            return try await step(.writes, in: namespace, keys: keys) { table, namespace throws(DurableError) in
                var counts: [Int] = []
                for key in keys { counts.append(try table.change(change, key, in: namespace, at: table.now)) }
                return ChangeSum(of: counts)
            }
        case .selection(let selection):
            return ChangeSum(of: [try await sweep(change, matching: selection, in: namespace).count])
        case .submitter(let submitter):
            return try await step(.writes, in: namespace) { table, namespace throws(DurableError) in
                try table.change(change, submittedBy: submitter, in: namespace, at: table.now)
            }
        }
    }

    /// Changes the keys of a selection, or counts them: in steps, between which others write. Which rows it is about is
    /// read once.
    private func sweep(
        _ change: DurableChange?, matching selection: DurableSelection, in namespace: String
    ) async throws(DurableError) -> DurableSweep<Table.Place> {
        var sweep = try await step(.reads, in: namespace) { table, namespace throws(DurableError) in
            try table.sweep(of: namespace, matching: selection, at: table.now)
        }
        while !sweep.isComplete {
            let rest = sweep
            sweep = try await step(change == nil ? .reads : .writes, in: namespace) {
                table, namespace throws(DurableError) in
                try table.change(change, rest, in: namespace)
            }
        }
        return sweep
    }

    // MARK: - Workers

    package func exchange(_ reports: [DurableReport], _ claim: DurableClaim?) async -> DurableExchange {
        let namespace = claim?.namespace ?? reports.first?.namespace
        do throws(DurableError) {
            return try await step(StepAccess(.works, namespace, keys: reports.map(\.key))) {
                table throws(DurableError) in
                table.exchange(reports, claim)
            } then: { exchange, signal in
                exchange.answers { next, isPaused in
                    signal.announce(next, in: claim?.namespace ?? "", isPaused: isPaused)
                }
            }
        } catch {
            return DurableExchange(reports, claim, failed: error)
        }
    }

    package func wait(in namespace: String, after mark: Int64, atMost time: Duration) async throws(DurableError) {
        try await waitForSignal(.work, in: namespace, after: mark, atMost: time)
    }

    package func interruptions(
        of worker: Int64, besides known: [Int64], in namespace: String, atMost time: Duration
    ) async throws(DurableError) -> [Int64] {
        let (found, wait, mark) = try await step(StepAccess(.reads, namespace)) { table throws(DurableError) in
            let namespace = try table.namespace(namespace)
            return (try table.interruptions(of: worker, besides: known, in: namespace, at: table.now), table.now)
        } then: { answer, signal in
            let (found, now) = answer
            let next = found.next.map { min(time, DurableNamespace.time(from: now, to: $0)) }
            return (found.runs, next ?? time, signal.announceLook(in: namespace))
        }
        if !found.isEmpty || time <= .zero { return found }
        try await waitForSignal(.interruptions, in: namespace, after: mark, atMost: wait)
        return try await interruptions(of: worker, besides: known, in: namespace, atMost: .zero)
    }

    package func announce(_ worker: DurableWorker.Identity, in namespace: String) async throws(DurableError) {
        try await step(.works, in: namespace) { table, namespace throws(DurableError) in
            try table.announce(worker, in: namespace)
        }
    }

    // MARK: - Dead runs

    package func retry(_ runs: [Int64], in namespace: String) async throws(DurableError) -> [DurableRetry] {
        try await step(.writes, in: namespace) { table, namespace throws(DurableError) in
            var answers: [DurableRetry] = []
            for run in runs { answers.append(try table.retry(run, in: namespace, at: table.now)) }
            return answers
        }
    }

    @discardableResult
    package func discard(_ runs: [Int64], in namespace: String) async throws(DurableError) -> Int {
        try await step(.writes, in: namespace) { table, namespace throws(DurableError) in
            var count = 0
            for run in runs where try table.discard(run, in: namespace) { count += 1 }
            return count
        }
    }

    // MARK: - Questions

    package func status() async throws(DurableError) -> [DurableStatus] {
        try await step(StepAccess(.reads, nil)) { table throws(DurableError) in try table.status() }
    }

    package func count(
        matching selection: DurableSelection, in namespace: String
    ) async throws(DurableError) -> DurableSelection.Count {
        var found = try await sweep(nil, matching: selection, in: namespace).found
        found.dead = try await deadRuns(matching: selection, in: namespace).count
        return found
    }

    package func list(
        in namespace: String, prefix: [UInt8], from start: [UInt8], limit: Int
    ) async throws(DurableError) -> [DurableListing<[UInt8]>] {
        try await step(.reads, in: namespace) { table, namespace throws(DurableError) in
            try table.list(prefix: prefix, from: start, limit: limit, in: namespace)
        }
    }

    package func upcoming(
        in namespace: String, limit: Int
    ) async throws(DurableError) -> [DurableListing<[UInt8]>] {
        try await step(.reads, in: namespace) { table, namespace throws(DurableError) in
            try table.upcoming(limit: limit, in: namespace)
        }
    }

    package func ended(
        of key: [UInt8]?, in namespace: String, limit: Int
    ) async throws(DurableError) -> [DurableEnd<[UInt8]>] {
        try await step(.reads, in: namespace) { table, namespace throws(DurableError) in
            try table.ended(of: key, limit: limit, in: namespace)
        }
    }

    package func workers(in namespace: String) async throws(DurableError) -> [DurableWorker] {
        try await step(.reads, in: namespace) { table, namespace throws(DurableError) in
            try table.workers(of: namespace)
        }
    }

    package func deadRuns(
        matching selection: DurableSelection, in namespace: String, newestFirst: Bool, limit: Int, withValues: Bool
    ) async throws(DurableError) -> [DurableDeadRun<[UInt8]>] {
        try await step(.reads, in: namespace) { table, namespace throws(DurableError) in
            try table.deadRuns(
                matching: selection, newestFirst: newestFirst, limit: limit, withValues: withValues, in: namespace)
        }
    }

    package func deadRun(
        _ run: Int64, in namespace: String
    ) async throws(DurableError) -> DurableDeadRun<[UInt8]>? {
        try await step(.reads, in: namespace) { table, namespace throws(DurableError) in
            try table.deadRun(run, in: namespace)
        }
    }

    package func presentInstant(in namespace: String) async throws(DurableError) -> CoreInstant {
        try await step(StepAccess(.reads, namespace)) { table in table.now }
    }
}

extension StoreTable {
    /// The rows between two looks at the time in ``change(_:_:in:for:)``.
    private static var rowsPerLook: Int { 32 }

    /// Makes a step of a change of the keys of a selection, or of a count of them, and returns what is left.
    ///
    /// - Parameter time: How long it takes, about. The commit comes on top.
    package mutating func change(
        _ change: DurableChange?, _ sweep: DurableSweep<Place>, in namespace: DurableNamespace,
        for time: Duration = .milliseconds(20)
    ) throws(DurableError) -> DurableSweep<Place> {
        let end = ContinuousClock.now.advanced(by: time)
        var sweep = sweep
        repeat {
            try self.change(change, &sweep, atMost: Self.rowsPerLook, in: namespace, at: now)
        } while !sweep.isComplete && ContinuousClock.now < end
        return sweep
    }
}
