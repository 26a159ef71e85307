internal import Lull
internal import LullCore
internal import LullDurable

// The calls of workers.

extension PostgresStore {
    package func exchange(
        _ reports: [DurableReport], _ claim: DurableClaim?, by owner: Int64, in namespace: String
    ) async -> DurableExchange {
        // Sorted by key, so that transactions do not wait for each other in a circle.
        let order = reports.indices.sorted { reports[$0].key.lexicographicallyPrecedes(reports[$1].key) }
        let starts: Starts?
        do throws(DurableError) { starts = try await takeStarts(for: claim) } catch {
            return DurableExchange(reports, claim, failed: error)
        }
        var statement = statement(
            "exchange", 15,
            selecting: """
                what, key, vals, run, fence, first_submit, last_submit, submits, because, due, first, attempt, resume,
                answers
                """)
        statement.add(namespace)
        statement.add(owner)
        add(order.map { reports[$0] }, to: &statement)
        let (since, namesRuns) = add(claim, to: &statement)
        statement.add(int: starts.map { Int32(clamping: $0.allowed) })
        do throws(DurableError) {
            // A claim that does not name the worker's runs would, if it were repeated, not hand out again those of the
            // lost answer.
            let rows = try await ask(statement, in: namespace, .work, isRepeatable: namesRuns)
            var answers: [Result<DurableReport.Answer, DurableError>] = []
            if !reports.isEmpty {
                let given = rows.first?.smallints(13) ?? []
                let busy = order.indices.filter { given.indices.contains($0) && given[$0] == 3 }
                let alone = await repeatAlone(busy.map { reports[order[$0]] })
                var results = [Result<DurableReport.Answer, DurableError>](
                    repeating: .failure(.notUnderstood), count: reports.count)
                for (place, answer) in given.enumerated() where order.indices.contains(place) {
                    results[order[place]] = Result(number: answer.map { Int64($0) })
                }
                for (place, answer) in zip(busy, alone) { results[order[place]] = answer }
                answers = results
                note(reports, answers)
                noteEarliest(rows.first?.bigint(9), in: namespace)
            }
            let answer = claim.map { self.answer(to: $0, since, starts, rows) }
            if let claim, let starts, let answer { await giveBack(starts, of: claim, used: answer.runs.count) }
            return DurableExchange(reports: answers, claim: answer.map { answer in .success(answer) })
        } catch {
            state.change { $0.known.handed[owner] = nil }
            return DurableExchange(reports, claim, failed: error)
        }
    }

    // A limit is one number in the namespace's row. A claim that moved it would hold the row until it is on the disk,
    // and all others would wait. So the starts are taken before, in a transaction that nobody waits for.

    /// Takes as many starts as a worker has room for, and the limit allows; nil where the claim does that itself.
    private func takeStarts(for claim: DurableClaim?) async throws(DurableError) -> Starts? {
        guard let claim, claim.limit > 0, state.change({ $0.known.limited.contains(claim.namespace) }) else {
            return nil
        }
        var statement = statement("take_starts", 3, selecting: "allowed, now, next, receipt")
        statement.add(claim.namespace)
        statement.add(int: Int32(clamping: claim.limit))
        statement.add(options.microseconds)
        // What a lost answer has taken is lost to the limit.
        let row = try await ask(statement, in: claim.namespace, .work, isRepeatable: true).first
        guard let row, let allowed = row.int(0) else {
            state.change { _ = $0.known.limited.remove(claim.namespace) }
            return nil
        }
        return Starts(
            allowed: Int(allowed), at: row.bigint(1) ?? 0, next: row.bigint(2), receipt: row.bigints(3))
    }

    /// Gives back what was not used, unless others have taken some since.
    private func giveBack(_ starts: Starts, of claim: DurableClaim, used: Int) async {
        guard used < starts.allowed else { return }
        var statement = statement("give_back_starts", 2)
        statement.add(starts.receipt)
        statement.add(int: Int32(clamping: starts.allowed - used))
        _ = try? await ask(statement, in: claim.namespace, .work, isRepeatable: true)
    }

    package func lookAtRuns(
        of worker: Int64, in namespace: String
    ) async throws(DurableError) -> (interrupted: [Int64], next: Duration?) {
        var statement = statement("interruptions", 3, selecting: "runs, next, now")
        statement.add(namespace)
        statement.add(worker)
        statement.add(options.microseconds)
        guard let row = try await ask(statement, in: namespace, .work, isRepeatable: true).first else {
            return ([], nil)
        }
        let next = row.bigint(1).map { CoreInstant(microseconds: $0) }
        let now = CoreInstant(microseconds: row.bigint(2) ?? 0)
        return (row.bigints(0).compactMap(\.self), next.map { DurableNamespace.time(from: now, to: $0) })
    }

    private func add(_ reports: [DurableReport], to statement: inout Statement) {
        statement.add(reports.map(\.key))
        statement.add(reports.map { Int64?($0.run) })
        statement.add(reports.map { Int64?($0.fence) })
        statement.add(reports.map { String?($0.kind.name) })
        statement.add(reports.map(\.kind.span))
        statement.add(reports.map(\.kind.error))
    }

    /// Adds the terms of a claim, if there is one.
    ///
    /// - Returns: From where the claim goes on, and whether it names the runs that the worker has.
    private func add(_ claim: DurableClaim?, to statement: inout Statement) -> (since: Int64?, namesRuns: Bool) {
        statement.add(claim?.terms.lease.microseconds)
        statement.add(claim.map { Int64(clamping: $0.terms.maxAttempts) })
        guard let claim else {
            statement.add(Self.noNumbers)
            statement.add(int: nil)
            statement.add(Int64?.none)
            statement.add(options.microseconds)
            return (nil, true)
        }
        let (isKnown, since) = state.change { state -> (Bool, Int64?) in
            let isKnown = state.known.handed[claim.terms.owner]?.isSubset(of: claim.holding) == true
            let resume = state.known.resume[claim.namespace]
            let isRecent = resume.map { ContinuousClock.now - $0.fullAt < Self.fullClaimInterval } == true
            return (isKnown, isRecent ? resume?.from : nil)
        }
        if isKnown { statement.addNull(arrayOf: Int64.self) } else { statement.add(claim.holding.map { Int64?($0) }) }
        statement.add(int: Int32(clamping: claim.limit))
        statement.add(since)
        statement.add(options.microseconds)
        return (since, !isKnown)
    }

    private static let noNumbers: [Int64?] = []

    /// Reads the answer to a claim, and remembers it.
    private func answer(
        to claim: DurableClaim, _ since: Int64?, _ starts: Starts?, _ rows: Rows
    ) -> DurableClaim.Answer {
        var runs: [DurableRun] = []
        var dead: [DurableRun] = []
        var next: CoreInstant?
        var wait: Duration?
        var resume: Int64?
        var present: Int64?
        var pause: DurablePause?
        for row in rows.rows {
            switch row.text(0) {
            case "paused": pause = DurablePause(reason: row.text(8), time: .microseconds(row.bigint(10) ?? 0))
            case "run": runs.append(DurableRun(row))
            case "dead": dead.append(DurableRun(row))
            case "next":
                resume = row.bigint(12)
                present = row.bigint(10)
                // It had to take its starts itself.
                if row.text(8) == "limit" { state.change { _ = $0.known.limited.insert(claim.namespace) } }
                guard var due = row.bigint(9), let present else { continue }
                if let starts, starts.allowed <= runs.count, runs.count < claim.limit {
                    due = max(due, starts.next ?? due)
                }
                next = CoreInstant(microseconds: due)
                wait = .microseconds(max(0, due.subtractingReportingOverflow(present).partialValue))
            default: continue
            }
        }
        let mark = state.changeAndWake { state in
            // In a pause, what the worker has without knowing was not handed out again.
            state.known.handed[claim.terms.owner] = pause == nil ? Set(claim.holding).union(runs.map(\.id)) : nil
            if let resume {
                let from = max(since ?? .min, resume - Self.claimMargin)
                let fullAt = since == nil ? .now : state.known.resume[claim.namespace]?.fullAt ?? .now
                state.known.resume[claim.namespace] = (from, fullAt)
            }
            return state.wakeSignal.announce(next, in: claim.namespace, isPaused: pause != nil)
        }
        // What is due but locked by another transaction is not handed out: looking again at once would not help.
        if runs.isEmpty, dead.isEmpty, claim.limit > 0, wait == .zero { wait = .milliseconds(50) }
        var answer = DurableClaim.Answer(runs: runs, dead: dead, next: wait, mark: mark, pause: pause)
        // With a limit, the runs count as started when they were allowed.
        answer.now = (starts?.at ?? present).map { CoreInstant(microseconds: $0) }
        return answer
    }

    /// Repeats reports on keys that another transaction has locked, each by itself.
    private func repeatAlone(_ reports: [DurableReport]) async -> [Result<DurableReport.Answer, DurableError>] {
        var answers: [Result<DurableReport.Answer, DurableError>] = []
        for report in reports {
            var statement = statement("report_many", 11, selecting: "answers, earliest")
            statement.add(report.namespace)
            statement.add(report.owner)
            add([report], to: &statement)
            statement.add(int: Int32(clamping: options.timeLimit.components.seconds * 1000 / 2))
            statement.add(true)
            statement.add(options.microseconds)
            do throws(DurableError) {
                let rows = try await ask(statement, in: report.namespace, isRepeatable: true)
                noteEarliest(rows.first?.bigint(1), in: report.namespace)
                answers.append(Result(number: (rows.first?.smallints(0).first ?? nil).map { Int64($0) }))
            } catch {
                answers.append(.failure(error))
            }
        }
        return answers
    }

    /// Notes what the rows of reports have left: it may start since an instant before the one from which claims go on.
    private func noteEarliest(_ earliest: Int64?, in namespace: String) {
        guard let earliest else { return }
        state.changeAndWake { state in
            if let resume = state.known.resume[namespace], earliest < resume.from {
                state.known.resume[namespace]?.from = earliest
            }
            state.wakeSignal.signal(CoreInstant(microseconds: earliest), in: namespace)
        }
    }

    /// Notes which runs workers do not have any more.
    private func note(_ reports: [DurableReport], _ answers: [Result<DurableReport.Answer, DurableError>]) {
        state.change { state in
            for (report, answer) in zip(reports, answers) {
                guard case .success(let answer) = answer else { continue }
                if case .heartbeat = report.kind, answer == .accepted || answer == .interrupted { continue }
                // A lost lease may be this worker's again, under a fence that it does not know.
                if answer == .leaseLost { state.known.handed[report.owner] = nil }
                state.known.handed[report.owner]?.remove(report.run)
            }
        }
    }
}

/// What the limit of a namespace allows a worker to start.
private struct Starts: Sendable {
    var allowed: Int
    /// When that was allowed, in microseconds.
    var at: Int64
    /// When more may start; nil if that is now.
    var next: Int64?
    /// What gives back those that are not used.
    var receipt: [Int64?]
}

extension DurableReport.Kind {
    /// The name of the kind in the function `report_many`.
    fileprivate var name: String {
        switch self {
        case .heartbeat: "heartbeat"
        case .completed: "completed"
        case .failed: "failed"
        case .released: "released"
        case .interrupted: "interrupted"
        }
    }

    /// The lease, or the delay of the next attempt, in microseconds.
    fileprivate var span: Int64? {
        switch self {
        case .heartbeat(let lease): lease.microseconds
        case .failed(_, let retry): retry?.microseconds
        case .completed, .released, .interrupted: nil
        }
    }

    /// The error, with a replacement for what the text of PostgreSQL cannot have.
    fileprivate var error: String? {
        if case .failed(let error, _) = self { error.replacing("\0", with: "\u{FFFD}") } else { nil }
    }
}

extension DurableRun {
    /// Reads a row of the function `claim`.
    fileprivate init(_ row: Row) {
        let (first, last) = (row.bigint(5) ?? 0, row.bigint(6) ?? 0)
        self.init(
            key: row.bytes(1) ?? [], stored: row.byteStrings(2), id: row.bigint(3) ?? 0, fence: row.bigint(4) ?? 0,
            submits: first...max(first, last), count: Int(row.bigint(7) ?? 0),
            edge: Edge(row.text(8) ?? "") ?? .trailing, due: CoreInstant(microseconds: row.bigint(9) ?? 0),
            first: CoreInstant(microseconds: row.bigint(10) ?? 0), attempt: Int(row.bigint(11) ?? 0))
    }
}

extension Edge {
    /// Creates the edge with a name of the server's.
    fileprivate init?(_ name: String) {
        switch name {
        case "leading": self = .leading
        case "trailing": self = .trailing
        case "maxWait": self = .maxWait
        case "maxCount": self = .maxCount
        case "flush": self = .flush
        default: return nil
        }
    }
}
