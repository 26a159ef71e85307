internal import LullCore
internal import LullDurable
internal import LullReference

extension SimulationRun {
    func take(_ step: SimulationStep) async throws {
        switch step {
        case .pass(let units): pass(units)
        case .setWall(let units): time.setWall(by: Duration(units: units))
        case .reboot(let units): try await startAnew { $0.reboot(after: Duration(units: units)) }
        case .restore(let units): try await startAnew { $0.restore(from: Duration(units: units)) }
        case .reopen: try await reopen()
        case .change(let policy, let maxBatch):
            model.change(policy, maxBatch: maxBatch)
            let rules = try DurableRules(model.setup, model.interrupting, maxBatch: maxBatch)
            _ = try await store.open(namespace, rules, changingPolicy: true)
        case .submit(let number, let key, let wait, let hasToken, let isNamed, let lost):
            let producer = number % outboxes.count
            guard outboxes[producer] == nil else { return try await resubmit(producer, lost: lost) }
            values += 1
            let submission = Submission(
                key: key, value: values, wait: wait, token: hasToken ? "token \(values)" : nil,
                submitter: isNamed ? producer + 1 : nil)
            try await submit(submission, by: producer, lost: lost)
            if hasToken { submissions.append(submission) }
        case .resubmit(let number, let lost): try await resubmit(number % outboxes.count, lost: lost)
        case .redeliver(let number):
            guard !submissions.isEmpty else { return }
            try await submit(submissions[number % submissions.count], by: nil, lost: true)
        case .killProducer(let number):
            outboxes[number % outboxes.count] = nil
            figures.crashes += 1
        case .claim(let number, let limit, let lease, let maxAttempts, let forgets, let hangs, let lost):
            let terms = DurableReference.Claim(
                owner: 0, lease: lease, maxAttempts: maxAttempts, holding: [], limit: limit)
            try await claim(number % workers.count, terms, forgets: forgets, hangs: hangs, lost: lost)
        case .report(let number, let run, let kind, let lost):
            try await report(number % workers.count, run, kind, lost: lost)
        case .resend(let number):
            guard !reports.isEmpty else { return }
            _ = try await send(reports[number % reports.count])
        case .killWorker(let number):
            owners += 1
            workers[number % workers.count] = Worker(owner: owners)
            figures.crashes += 1
        case .touch(let key, let wait): try await touch(key, wait)
        case .lookAtRuns(let number): try await lookAtRuns(of: workers[number % workers.count].owner)
        case .flush(let key): try await end(key, flushing: true)
        case .cancel(let key): try await end(key, flushing: false)
        case .flushSome(let selection):
            let count = try await store.count(matching: DurableSelection(selection), in: namespace)
            let found = try await store.flush(matching: DurableSelection(selection), in: namespace)
            let expected = model.flush(nil, selection, at: now)
            if found != expected || count.flushable != expected {
                fail(
                    "the flush of \(selection) says \(found), and was to be \(count.flushable), instead of \(expected)")
            }
        case .cancelSome(let selection):
            let found = try await store.cancel(matching: DurableSelection(selection), in: namespace)
            let expected = model.cancel(nil, selection, at: now)
            if found != expected { fail("the cancel of \(selection) says \(found) instead of \(expected)") }
        case .lookForDead(let selection):
            let found = try await store.deadRuns(matching: DurableSelection(selection), in: namespace)
            let expected = model.deadRuns(selection, at: now)
            if Set(found.map { Int($0) }) != expected { fail("dead of \(selection) are \(found), not \(expected)") }
        case .flushOwn(let number): try await flushOwn(of: number % outboxes.count + 1)
        case .cancelOwn(let number): try await cancelOwn(of: number % outboxes.count + 1)
        case .retry(let number): try await bury(number, retrying: true)
        case .discard(let number): try await bury(number, retrying: false)
        case .pause(let reason, let time):
            let found = try await store.pause(namespace, reason: reason, for: time.map { CoreDuration(units: $0) })
            let expected = model.pause(reason, for: time, at: now)
            if found.reason != expected { fail("the reason is \(found.reason ?? "-") instead of \(expected ?? "-")") }
        case .resume: try await resume()
        case .look: try await look()
        }
    }

    // MARK: - Producers

    private func resubmit(_ producer: Int, lost: Bool) async throws {
        guard let submission = outboxes[producer] else { return }
        try await submit(submission, by: producer, lost: lost)
    }

    private func submit(_ submission: Submission, by producer: Int?, lost: Bool) async throws {
        let receipt = try await store.submit(
            DurableSubmission(
                namespace: namespace, key: Array(submission.key.utf8), value: Array("\(submission.value)".utf8),
                wait: submission.wait.map { CoreDuration(units: $0) }, token: submission.token,
                submitter: submission.submitter.map { Int64($0) }, context: Self.context(of: submission.value)))
        let number = numbers.number(receipt.generation, of: submission.key)
        figures.submits += 1
        let due: Int?
        if let token = submission.token, let first = model.answer(to: token, at: now),
            !first.mayBeForgotten || first.number == number
        {
            if first.number != number { fail("a submit that was #\(first.number) is repeated as #\(number)") }
            due = first.due
        } else {
            due = model.submit(
                submission.key, value: submission.value, wait: submission.wait, token: submission.token,
                submitter: submission.submitter, at: now, number: number)
        }
        if receipt.due.map(units) != due {
            fail("#\(number) is due at \(receipt.due.map(units) ?? -1), not \(due ?? -1)")
        }
        if receipt.dueIn != due.map({ Duration(units: max(0, $0 - now)) }) { fail("#\(number) is due in another time") }
        if lost { figures.lostAnswers += 1 } else { books.acknowledge(submission.key, number) }
        guard let producer else { return }
        // Without a token a submit must not be repeated: nobody would know that it is the same.
        outboxes[producer] = lost && submission.token != nil ? submission : nil
    }

    /// The context of every third submit is its value.
    private static func context(of value: Int) -> String? { value % 3 == 0 ? "context \(value)" : nil }

    private func checkContext(_ context: String?, of values: [[UInt8]], of run: Int64) {
        let newest = values.last.flatMap { Int(String(decoding: $0, as: UTF8.self)) }
        if context != newest.flatMap(Self.context) { fail("run \(run) of \(newest ?? -1) has \(context ?? "-")") }
    }

    private func touch(_ key: String, _ wait: Int?) async throws {
        let found = try await store.touch(
            Array(key.utf8), in: namespace, wait: wait.map { CoreDuration(units: $0) })
        let expected = model.touch(key, wait: wait, at: now)
        if found != expected { fail("touch says \(found) instead of \(expected)") }
    }

    private func end(_ key: String?, flushing: Bool) async throws {
        let bytes = key.map { Array($0.utf8) }
        let found = try await flushing ? store.flush(bytes, in: namespace) : store.cancel(bytes, in: namespace)
        let expected = flushing ? model.flush(key, at: now) : model.cancel(key, at: now)
        if found != expected { fail("\(flushing ? "flush" : "cancel") says \(found) instead of \(expected)") }
    }

    private func flushOwn(of submitter: Int) async throws {
        let found = try await store.flush(submittedBy: Int64(submitter), in: namespace)
        let expected = model.flush(submittedBy: submitter, at: now)
        let flushed = found.flushed.map { one in
            let key = String(decoding: one.key, as: UTF8.self)
            return (key, numbers.number(one.generation, of: key))
        }
        if flushed.count != expected.flushed.count || flushed.contains(where: { expected.flushed[$0.0] != $0.1 })
            || found.mixed != expected.mixed
        {
            fail("the flush of a submitter says \(flushed), \(found.mixed) instead of \(expected)")
        }
    }

    private func cancelOwn(of submitter: Int) async throws {
        let found = try await store.cancel(submittedBy: Int64(submitter), in: namespace)
        let expected = model.cancel(submittedBy: submitter, at: now)
        if found != expected { fail("the cancel of a submitter says \(found) instead of \(expected)") }
    }

    // MARK: - Workers

    func claim(
        _ number: Int, _ terms: DurableReference.Claim, forgets: Bool, hangs: Bool = false, lost: Bool
    ) async throws {
        // Where starts are taken before a claim, those of an answer that was lost are lost to the limit.
        let isSafe = !(maker.takesStartsFirst && model.setup.limit != nil)
        let (forgets, lost) = (forgets && isSafe, lost && isSafe)
        var terms = terms
        terms.owner = workers[number].owner
        terms.holding = forgets ? [] : workers[number].held.map(\.run)
        terms.hanging = hangs ? terms.holding : []
        let answer = try await store.claim(
            DurableClaim(
                namespace: namespace,
                terms: DurableClaim.Terms(
                    owner: Int64(terms.owner), lease: CoreDuration(units: terms.lease), maxAttempts: terms.maxAttempts),
                holding: terms.holding.map { Int64($0) }, hanging: terms.hanging.map { Int64($0) }, limit: terms.limit))
        let handed = answer.runs.map { run in
            let key = String(decoding: run.key, as: UTF8.self)
            return DurableReference.Handed(
                key: key, run: Int(run.number), fence: Int(run.fence), numbers: numbers.range(run.submits, of: key),
                values: run.values.map { Int(String(decoding: $0, as: UTF8.self)) ?? -1 }, count: run.count,
                cause: ReferenceEdge(run.cause), due: units(run.due.nanoseconds), first: units(run.first.nanoseconds),
                attempt: run.attempt)
        }
        for run in answer.runs { checkContext(run.context, of: run.values, of: run.number) }
        for run in handed {
            // Later claims of a run have later fences.
            if run.fence == run.run {
                totals.runs += 1
                totals.executed += run.count
            }
            fail(books.give(run, to: terms.owner, at: now, until: now + terms.lease))
        }
        for (key, submit) in model.claim(terms, at: now, handed: handed) {
            let receipt = DurableReceipt(
                namespace: namespace, key: Array(key.utf8), generation: numbers.stored(submit, of: key), dueIn: nil,
                due: nil)
            switch try await store.state(of: receipt) {
            case .dead: model.observeDeath(of: key, submit, at: now)
            case .pending: model.observeReturn(of: key, submit, at: now)
            default: break
            }
        }
        if (answer.pause.map { $0.reason ?? "" }) != pauseReason { fail("the claim says another pause") }
        compare(answer, handed.count < terms.limit, terms)
        if lost {
            figures.lostAnswers += 1
            return
        }
        for run in handed {
            workers[number].held.removeAll { $0.run == run.run }
            workers[number].held.append(run)
        }
    }

    private var pauseReason: String? { model.isPaused(at: now) ? model.pause?.reason : nil }

    /// A worker that claims again at the announced time must be neither late nor busy.
    private func compare(_ answer: DurableClaim.Answer, _ isAll: Bool, _ terms: DurableReference.Claim) {
        let next = model.nextStart(at: now, besides: terms)
        guard let announced = answer.next else {
            if let next { fail("there is nothing to come back for, but something may start at \(next)") }
            return
        }
        if let next, announced > Duration(units: max(0, next - now)) {
            fail("\(announced) is too late for \(next) at \(now)")
        }
        if isAll, announced <= .zero { fail("there is more at once, but it was not handed out") }
    }

    private func report(
        _ number: Int, _ run: Int, _ kind: DurableReference.ReportKind, lost: Bool
    ) async throws {
        let held = workers[number].held
        guard !held.isEmpty else { return }
        let handed = held[run % held.count]
        let report = Report(
            kind: kind, key: handed.key, run: handed.run, fence: handed.fence, owner: workers[number].owner)
        reports.append(report)
        let answer = try await send(report)
        if lost {
            figures.lostAnswers += 1
            return
        }
        if [.accepted, .interrupted].contains(answer) {
            if case .heartbeat = kind { return }
            if kind == .overdue { return }
        }
        workers[number].held.removeAll { $0.run == handed.run }
    }

    private func send(_ report: Report) async throws -> DurableReport.Answer {
        let kind: DurableReport.Kind =
            switch report.kind {
            case .heartbeat(let lease): .heartbeat(lease: CoreDuration(units: lease))
            case .completed: .completed
            case .failed(let error, let retry): .failed(error, retry: retry.map { CoreDuration(units: $0) })
            case .gaveUp(let reason): .gaveUp(reason)
            case .snoozed(let time): .snoozed(for: CoreDuration(units: time))
            case .overdue: .overdue
            case .released: .released
            case .interrupted: .interrupted
            }
        let answer = try await store.report(
            DurableReport(
                namespace: namespace, key: Array(report.key.utf8), run: Int64(report.run), fence: Int64(report.fence),
                owner: Int64(report.owner), kind))
        let expected = model.report(
            report.kind, key: report.key, run: report.run, fence: report.fence, owner: report.owner, at: now)
        let reply: DurableReference.Reply =
            switch answer {
            case .accepted: .accepted
            case .interrupted: .interrupted
            case .alreadyDone: .alreadyDone
            case .leaseLost: .leaseLost
            }
        if !expected.contains(reply) { fail("\(report) is answered with \(reply) instead of \(expected)") }
        if reply == .accepted || reply == .interrupted {
            fail(books.accept(report.kind, report.key, report.run, at: now))
        }
        if reply == .leaseLost { figures.lostLeases += 1 }
        if reply == .accepted {
            switch report.kind {
            case .failed: totals.failures += 1
            case .gaveUp: (totals.failures, totals.givenUp) = (totals.failures + 1, totals.givenUp + 1)
            case .snoozed: totals.snoozed += 1
            case .overdue: totals.overdue += 1
            case .heartbeat, .completed, .released, .interrupted: break
            }
        }
        return answer
    }

    // MARK: - Maintenance

    private func bury(_ number: Int, retrying: Bool) async throws {
        let dead = model.spans.filter { span in span.run != nil && span.place != .claimed }
        guard !dead.isEmpty, let run = dead[number % dead.count].run else { return }
        if retrying {
            let answer = try await store.retry(Int64(run), in: namespace)
            let found: DurableReference.Retry =
                switch answer {
                case .accepted: .accepted
                case .notFound: .notFound
                case .outdated: .outdated
                case .busy: .busy
                }
            let expected = model.retry(run, at: now)
            if found != expected { fail("retry of run \(run) says \(found) instead of \(expected)") }
        } else {
            let found = try await store.discard(Int64(run), in: namespace)
            let expected = model.discard(run, at: now)
            if found != expected { fail("discard of run \(run) says \(found) instead of \(expected)") }
            if found { isComplete = false }
        }
    }

    private func resume() async throws {
        let found = try await store.resume(namespace)
        let expected = model.resume(at: now)
        if found != expected { fail("resume says \(found) instead of \(expected)") }
    }

    private func lookAtRuns(of owner: Int) async throws {
        let found = try await store.interruptions(of: Int64(owner), besides: [], in: namespace, atMost: .zero)
        let expected = model.interruptions(of: owner, at: now)
        if found.map({ Int($0) }).sorted() != expected { fail("interrupted are \(found) instead of \(expected)") }
    }

    private func look() async throws {
        let status = try await store.status().first { $0.namespace == namespace }
        let found = status.map { [$0.pending, $0.ready, $0.running, $0.retrying, $0.dead] }
        let places: [DurableReference.Place] = [.ready, .claimed, .backoff, .ended(.dead)]
        let expected =
            [model.count(.pending, .held, at: now)] + places.map { model.count($0, at: now) }
        if found != expected { fail("the status is \(found ?? []) instead of \(expected)") }
        if (status?.pause.map { $0.reason ?? "" }) != pauseReason { fail("the status has another pause") }
        let end = model.isPaused(at: now) ? model.pause?.end : nil
        if status?.pauseEndsIn != end.map({ Duration(units: $0 - now) }) {
            fail("the pause does not end at \(end ?? -1)")
        }
        // What has gone back since a row was written is counted with the next step on it.
        if let status, status.restarted > model.restarted { fail("\(status.restarted) runs went back") }
        if let status {
            if (status.runs, status.executed) != (totals.runs, totals.executed) {
                fail("\(status.runs) runs with \(status.executed) submits are counted instead of \(totals)")
            }
            if status.failures > totals.failures { fail("\(status.failures) failures of \(totals.failures) reports") }
            let counts = [status.snoozed, status.givenUp, status.overdue]
            let most = [totals.snoozed, totals.givenUp, totals.overdue]
            if zip(counts, most).contains(where: { $0 > $1 }) { fail("\(counts) answers of \(most) are counted") }
        }
        let dead = try await store.dead(in: namespace, limit: 1000)
        if dead.count != expected[4] { fail("\(dead.count) dead runs are listed") }
        for run in dead {
            let span = model.spans.first { $0.run == Int(run.number) }
            let values = run.values.map { Int(String(decoding: $0, as: UTF8.self)) ?? -1 }
            if span?.values != values { fail("dead run \(run.id) has \(values)") }
            checkContext(run.context, of: run.values, of: run.number)
        }
        let listed = try await store.list(in: namespace, prefix: [], limit: 1000)
        for key in listed {
            let name = String(decoding: key.key, as: UTF8.self)
            let spans = model.spans.filter { $0.key == name }
            let counts = [[DurableReference.Place.pending, .held], [.ready]].map { places in
                spans.filter { places.contains($0.place) }.reduce(0) { $0 + $1.count }
            }
            if [key.pending, key.ready] != counts { fail("\(name) is listed with \(key.pending) and \(key.ready)") }
            let run = spans.first { $0.place == .claimed || $0.place == .backoff }?.run
            let snoozes = spans.first { $0.place == .claimed || $0.place == .backoff }?.snoozes
            if key.run?.snoozes != snoozes { fail("\(name) is listed with \(key.run?.snoozes ?? -1) snoozes") }
            if key.run.map({ Int($0.number) }) != run { fail("\(name) is listed with run \(key.run?.number ?? 0)") }
        }
        let upcoming = try await store.upcoming(in: namespace, limit: 1000)
        if Set(upcoming) != Set(listed.filter(\.hasWork)) { fail("\(upcoming) are to come, of \(listed)") }
        let newest = try await store.deadRuns(
            matching: .all, in: namespace, newestFirst: true, limit: 1000, withValues: false)
        if newest.map(\.id) != dead.reversed().map(\.id) { fail("\(newest) are dead, of \(dead)") }
        let live = Set(
            model.spans.filter { ![nil].contains($0.start) || $0.place == .pending || $0.place == .held }.map(\.key))
        let names = listed.map { String(decoding: $0.key, as: UTF8.self) }
        if !live.isSubset(of: names) { fail("\(live) are not idle, but \(names) are listed") }
    }

    /// All workers have died but one, which is healthy: it works until nothing is left.
    func drain() async throws {
        owners += 1
        workers = [Worker(owner: owners)]
        try await resume()
        let terms = DurableReference.Claim(owner: 0, lease: 50, maxAttempts: 1000, holding: [], limit: 2)
        for _ in 0..<10_000 where finding == nil {
            try await claim(0, terms, forgets: false, lost: false)
            while !workers[0].held.isEmpty, finding == nil { try await report(0, 0, .completed, lost: false) }
            guard let next = model.nextStart(at: now) else {
                if model.count(.held, at: now) == 0 { return }
                // What is held alone has no due instant.
                try await end(nil, flushing: true)
                continue
            }
            pass(max(0, next - now))
            try await check(next)
        }
        fail("nothing comes to an end")
    }
}

extension DurableSelection {
    fileprivate init(_ selection: DurableReference.Selection) {
        self.init(
            prefix: selection.prefix, olderThan: selection.age.map { Duration(units: $0) }, error: selection.error)
    }
}
