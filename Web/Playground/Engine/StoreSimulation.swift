internal import Lull
internal import LullCore

/// A store in memory and workers on it, in virtual time: the durable core itself, with stand-ins for the network, the
/// machines and the server that handlers call.
///
/// Producers are beside the store. A worker's call reaches the store after half of the latency, and its answer takes
/// the other half. The same calls at the same instants have the same outcome.
final class StoreSimulation {
    /// What a simulation is made with.
    struct Settings {
        var rules: DurableRules
        var workers: Int
        var maxConcurrent: Int
        var lease: CoreDuration
        var retry: RetryPolicy
        var latency: CoreDuration
        /// How long handlers take that start from now on.
        var takes: CoreDuration
        /// Whether they go on when they are cancelled.
        var ignoresCancellation = false
    }

    var settings: Settings
    private(set) var now = CoreInstant.origin
    private(set) var table = MemoryTable()
    var namespace: DurableNamespace
    var workers: [SimulatedWorker] = []
    var records = EventLog()
    /// How many handlers are still to fail.
    var failing = 0
    /// The newest fence that the server has seen of each key.
    private var fences: [[UInt8]: Int64] = [:]
    private var events = EventQueue()
    /// When the pending value of a key falls due, if nothing is submitted.
    private var dues: [[UInt8]: CoreInstant] = [:]
    /// How often the store has said that there may be something to claim.
    private var mark: Int64 = 0
    /// The runs that are known to be interrupted.
    private var interrupted: Set<Int64> = []
    private(set) var submitted = 0
    /// The number of submits of the dead runs that were discarded, which the table has forgotten.
    private(set) var discarded: Int64 = 0
    private var owners: Int64 = 0

    init(_ settings: Settings) {
        self.settings = settings
        namespace = DurableNamespace(id: 1, name: "page", rules: settings.rules)
        for _ in 0..<settings.workers { addWorker() }
    }

    // MARK: - Time

    /// The next instant at which something happens.
    var alarm: CoreInstant { events.first?.at ?? .farFuture }

    /// Does everything that happens up to an instant.
    func advance(to instant: CoreInstant) {
        while let event = events.first, event.at <= instant {
            events.removeFirst()
            now = max(now, event.at)
            perform(event)
        }
        now = max(now, instant)
    }

    func schedule(_ kind: SimulatedEvent.Kind, at instant: CoreInstant, of worker: Int = -1) {
        let life = worker < 0 ? 0 : workers[worker].life
        events.insert(SimulatedEvent(at: instant, worker: worker, life: life, kind: kind))
    }

    /// Half of the latency from now.
    private var arrival: CoreInstant { now.advanced(by: .nanoseconds(settings.latency.nanoseconds / 2)) }

    private func perform(_ event: SimulatedEvent) {
        switch event.kind {
        case .due(let key): fellDue(key)
        case .reachable(let until):
            if workers[event.worker].cutOffUntil == until { records.add(.reachable, at: now, event.worker) }
        case .call(let call):
            // A call that is under way reaches the store, whatever has become of its worker.
            answer(call, of: event)
        case .woke, .alarm, .event, .handlerEnd, .waitEnd, .look:
            let worker = workers[event.worker]
            guard worker.life == event.life, worker.machine != nil else { return }
            // What comes to a machine that sleeps is there when it wakes.
            if worker.asleepUntil > now {
                events.insert(
                    SimulatedEvent(at: worker.asleepUntil, worker: event.worker, life: event.life, kind: event.kind))
                return
            }
            performOnMachine(event)
        }
    }

    private func performOnMachine(_ event: SimulatedEvent) {
        switch event.kind {
        case .woke(let until):
            if workers[event.worker].asleepUntil == until { records.add(.woke, at: now, event.worker) }
        case .alarm:
            if let machine = workers[event.worker].machine, machine.alarm <= now { hand(.woke, to: event.worker) }
        case .event(let answer):
            // An answer that is under way when the worker is cut off is lost; what it answers has been done.
            hand(workers[event.worker].cutOffUntil > now ? answer.lost(because: Self.away) : answer, to: event.worker)
        case .handlerEnd(let run, let number): handlerEnds(run, number, of: event.worker)
        case .waitEnd(let number):
            guard workers[event.worker].waiting == number else { return }
            workers[event.worker].waiting = nil
            hand(
                .waitEnded(workers[event.worker].cutOffUntil > now ? .failure(Self.away) : .success(())),
                to: event.worker)
        case .look(let number): look(number, of: event.worker)
        case .due, .call, .reachable: break
        }
    }

    // MARK: - The store

    /// Does a step on the table, and records what it has changed for runs and for workers that wait.
    func step<Answer>(_ body: (inout MemoryTable) throws(DurableError) -> Answer) -> Answer {
        let before = runs()
        let answer = read(body)
        noteChanges(since: before)
        return answer
    }

    // Stands apart from `step` because the module would have it once for each type of answer.
    private func noteChanges(since before: [Int64: (key: [UInt8], run: DurableRow.Run)]) {
        let after = runs()
        for id in before.keys.sorted() where after[id] == nil {
            guard let old = before[id] else { continue }
            let key = number(of: old.key)
            switch outcome(of: id, of: old.key) {
            case .dead: records.add(.dead, at: now, id, key)
            case .failed: records.add(.gaveUp, at: now, id, key)
            case nil: records.add(.putBack, at: now, id, key, worker(of: old.run))
            default: break
            }
        }
        for id in after.keys.sorted() {
            guard let old = before[id]?.run, let new = after[id] else { continue }
            if !old.isInBackoff, new.run.isInBackoff {
                records.add(.backoff, at: now, id, number(of: new.key), new.run.state.end.nanoseconds)
            } else if !old.isInBackoff, old.owner != new.run.owner {
                records.add(.expired, at: now, id, worker(of: old), number(of: new.key))
            }
        }
        noteInterruptions()
        noteDues()
        let written = table.takeWritten()
        if !written.earliest.isEmpty { wakeWorkers() }
        if !written.interrupted.isEmpty { lookAgain() }
    }

    /// Reads from the table.
    func read<Answer>(_ body: (inout MemoryTable) throws(DurableError) -> Answer) -> Answer {
        do { return try body(&table) } catch {
            preconditionFailure("a table in memory refuses nothing that is asked here")
        }
    }

    func entries() -> [DurableEntry] {
        let namespace = namespace
        return read { table throws(DurableError) in
            table.places(matching: .all, in: namespace).compactMap { table.entry(at: $0, in: namespace) }
        }
    }

    /// Returns the row of a key as the next step that writes finds it, and what ends in that step.
    func settled(_ entry: DurableEntry) -> (row: DurableRow, endings: [EndedSubmits]) {
        var row = entry.row
        var endings: [EndedSubmits] = []
        row.settle(at: now, by: namespace.rules, &endings)
        return (row, endings)
    }

    private func runs() -> [Int64: (key: [UInt8], run: DurableRow.Run)] {
        var runs: [Int64: (key: [UInt8], run: DurableRow.Run)] = [:]
        for entry in entries() {
            if let run = entry.row.run { runs[run.id] = (entry.key, run) }
        }
        return runs
    }

    private func outcome(of run: Int64, of key: [UInt8]) -> EndKind? {
        let namespace = namespace
        return read { table throws(DurableError) in table.end(ofRun: run, of: key, in: namespace) }
    }

    /// Follows when pending values fall due.
    private func noteDues() {
        for entry in entries() {
            let due = entry.row.pending == nil ? nil : entry.row.due(by: namespace.rules)
            guard dues[entry.key] != due else { continue }
            dues[entry.key] = due
            if let due, due < .farFuture { schedule(.due(entry.key), at: due) }
        }
    }

    private func fellDue(_ key: [UInt8]) {
        guard dues[key] == now else { return }
        dues[key] = nil
        let count = entries().first { $0.key == key }?.row.gate.count ?? 0
        records.add(.due, at: now, number(of: key), Int64(count))
        noteInterruptions()
    }

    /// Records the runs that are interrupted now and were not before. What falls due interrupts a run before the next
    /// step writes that.
    private func noteInterruptions() {
        var found: Set<Int64> = []
        for entry in entries() {
            guard let run = settled(entry).row.run, run.isInterrupted else { continue }
            found.insert(run.id)
            if !interrupted.contains(run.id) { records.add(.interrupted, at: now, run.id, number(of: entry.key)) }
        }
        interrupted = found
    }

    private func wakeWorkers() {
        mark += 1
        for index in workers.indices {
            if let number = workers[index].waiting { schedule(.waitEnd(number), at: arrival, of: index) }
        }
    }

    private func lookAgain() {
        for index in workers.indices {
            if let watch = workers[index].watch { schedule(.look(watch.number), at: now, of: index) }
        }
    }

    /// The index of the worker that has or had a run.
    private func worker(of run: DurableRow.Run) -> Int64 { owner(run.owner) }

    func owner(_ owner: Int64) -> Int64 { Int64(workers.firstIndex { $0.owners.contains(owner) } ?? -1) }

    // MARK: - Producers

    func submit(_ value: Int64, for key: Int32, wait: CoreDuration?) {
        submitted += 1
        let submission = DurableSubmission(
            namespace: namespace.name, key: bytes(of: key), value: bytes(of: value), wait: wait)
        let place = records.reserve(.submitted, at: now, 4)
        let receipt = step { table throws(DurableError) in try table.submit(submission, in: namespace, at: now) }
        records.fill(place, Int64(key), value, receipt.generation, receipt.due ?? -1)
    }

    func touch(_ key: Int32, wait: CoreDuration?) {
        let wasOpen = step { table throws(DurableError) in
            try table.touch(bytes(of: key), wait: wait, in: namespace, at: now)
        }
        records.add(.touched, at: now, Int64(key), wasOpen ? 1 : 0)
    }

    func change(_ change: DurableChange, of key: Int32?) {
        let count = step { table throws(DurableError) in
            guard let key else { return try table.change(change, matching: .all, in: namespace, at: now) }
            return try table.change(change, bytes(of: key), in: namespace, at: now)
        }
        records.add(change == .flush ? .flushed : .cancelled, at: now, Int64(key ?? -1), Int64(count))
    }

    func pause(_ isPaused: Bool) {
        guard (namespace.latestPause != nil) != isPaused else { return }
        namespace.latestPause = isPaused ? DurablePause(reason: nil, time: .zero) : nil
        records.add(isPaused ? .paused : .resumed, at: now)
        if !isPaused { wakeWorkers() }
    }

    func retry(_ run: Int64) {
        let answer = step { table throws(DurableError) in try table.retry(run, in: namespace, at: now) }
        records.add(.retried, at: now, run, answer == .accepted ? 1 : 0)
    }

    func discard(_ run: Int64) {
        let submits = table.deadRun(run, in: namespace)?.submits.count ?? 0
        discarded += Int64(submits)
        let isThere = step { table throws(DurableError) in try table.discard(run, in: namespace) }
        records.add(.discarded, at: now, run, isThere ? 1 : 0)
    }

    // MARK: - Calls of workers

    private func answer(_ call: SimulatedEvent.Call, of event: SimulatedEvent) {
        let isCutOff = workers[event.worker].cutOffUntil > now
        let answer: WorkerStateMachine.Event
        switch call {
        case .claim(let claim):
            answer = .claimed(isCutOff ? .failure(Self.away) : .success(self.claim(claim)))
        case .report(let report):
            answer = .reported(report, isCutOff ? .failure(Self.away) : .success(self.report(report, of: event.worker)))
        }
        events.insert(
            SimulatedEvent(at: arrival, worker: event.worker, life: event.life, kind: .event(answer)))
    }

    private static var away: DurableError { .refused("the store cannot be reached") }

    private func claim(_ claim: DurableClaim) -> DurableClaim.Answer {
        let (runs, dead, next) = step { table throws(DurableError) in
            try table.claim(claim, in: namespace, at: now)
        }
        for run in runs {
            records.add(
                .claimed, at: now, owner(claim.terms.owner), run.number, number(of: run.key), Int64(run.attempt),
                run.fence,
                now.advanced(by: claim.terms.lease).nanoseconds, Int64(run.count), run.first.nanoseconds,
                run.due.nanoseconds, run.cause.number, run.submits.lowerBound, run.submits.upperBound,
                values: run.values.map { number(of: $0) })
        }
        let isHeldBack =
            namespace.latestPause == nil && runs.count < claim.limit
            && entries().contains { settled($0).row.startable.map { $0 <= now } ?? false }
        if isHeldBack { records.add(.limited, at: now, (next ?? .farFuture).nanoseconds) }
        return DurableClaim.Answer(
            runs: runs, dead: dead, next: next.map { DurableNamespace.time(from: now, to: $0) }, mark: mark,
            pause: namespace.latestPause)
    }

    private func report(_ report: DurableReport, of worker: Int) -> DurableReport.Answer {
        let answer = step { table throws(DurableError) in try table.report(report, in: namespace, at: now) }
        var until: Int64 = -1
        if case .heartbeat(let lease) = report.kind { until = now.advanced(by: lease).nanoseconds }
        records.add(.reported, at: now, Int64(worker), report.run, report.kind.number, answer.number, until)
        return answer
    }

    private func look(_ number: Int, of index: Int) {
        guard let watch = workers[index].watch, watch.number == number else { return }
        guard workers[index].cutOffUntil <= now else {
            workers[index].watch = nil
            return hand(.watchEnded(.failure(Self.away)), to: index)
        }
        let (namespace, now, owner) = (namespace, now, workers[index].owner)
        let found = read { table throws(DurableError) in
            try table.interruptions(of: owner, besides: watch.known, in: namespace, at: now)
        }
        if !found.runs.isEmpty || now >= watch.deadline {
            workers[index].watch = nil
            schedule(.event(.watchEnded(.success(found.runs))), at: arrival, of: index)
        } else {
            schedule(
                .look(number),
                at: max(min(found.next ?? .farFuture, watch.deadline), now.advanced(by: .nanoseconds(1))), of: index)
        }
    }

    // MARK: - Workers

    /// Adds a worker, and starts it.
    func addWorker() {
        workers.append(SimulatedWorker())
        start(workers.count - 1)
    }

    /// Starts a process in the place of one that is gone.
    func start(_ index: Int) {
        guard workers[index].machine == nil, workers[index].asleepUntil <= now else { return }
        owners += 1
        workers[index].life += 1
        workers[index].owners.append(owners)
        workers[index].machine = WorkerStateMachine(
            WorkerStateMachine.Configuration(
                namespace: namespace.name, owner: owners, maxConcurrent: settings.maxConcurrent, lease: settings.lease,
                backoff: settings.retry, keepsValues: false, watches: namespace.rules.whileRunning != .queue,
                announces: false))
        records.add(.began, at: now, index)
        hand(.woke, to: index)
    }

    /// Ends a process at once, as the signal KILL does. A machine that sleeps is woken for it.
    func kill(_ index: Int) {
        guard workers[index].machine != nil else { return }
        forget(index)
        workers[index].asleepUntil = .farPast
        records.add(.killed, at: now, index)
    }

    private func forget(_ index: Int) {
        workers[index].machine = nil
        workers[index].life += 1
        workers[index].handlers = [:]
        workers[index].waiting = nil
        workers[index].watch = nil
        workers[index].isStopping = false
    }

    /// Asks a worker to stop, as the signal TERM does.
    func stop(_ index: Int) {
        guard workers[index].machine != nil, !workers[index].isStopping else { return }
        workers[index].isStopping = true
        records.add(.stopping, at: now, index)
        schedule(.event(.stop), at: now, of: index)
    }

    /// Suspends a machine: nothing of it moves until an instant; its handlers go on then with what was left of them.
    func sleep(_ index: Int, until instant: CoreInstant) {
        guard workers[index].machine != nil, instant > max(now, workers[index].asleepUntil) else { return }
        let length = max(now, workers[index].asleepUntil).duration(to: instant)
        workers[index].asleepUntil = instant
        for run in workers[index].handlers.keys.sorted() {
            guard var handler = workers[index].handlers[run] else { continue }
            handler.endsAt = handler.endsAt.advanced(by: length)
            handler.number += 1
            workers[index].handlers[run] = handler
            schedule(.handlerEnd(run, handler.number), at: handler.endsAt, of: index)
        }
        records.add(.slept, at: now, Int64(index), instant.nanoseconds)
        schedule(.woke(instant), at: instant, of: index)
    }

    /// Lets the calls of a worker fail until an instant, those too that wait in the store.
    func cutOff(_ index: Int, until instant: CoreInstant) {
        guard instant > max(now, workers[index].cutOffUntil) else { return }
        workers[index].cutOffUntil = instant
        records.add(.cutOff, at: now, Int64(index), instant.nanoseconds)
        schedule(.reachable(instant), at: instant, of: index)
        if let number = workers[index].waiting { schedule(.waitEnd(number), at: now, of: index) }
        if let watch = workers[index].watch { schedule(.look(watch.number), at: now, of: index) }
    }

    /// Hands an event to a worker's machine, and does what it answers.
    private func hand(_ event: WorkerStateMachine.Event, to index: Int) {
        guard let actions = workers[index].machine?.handle(event, at: now) else { return }
        for action in actions { perform(action, of: index) }
        guard let machine = workers[index].machine else { return }
        if machine.isFinished {
            forget(index)
            records.add(.gone, at: now, index)
        } else if machine.alarm < .farFuture, machine.alarm != workers[index].alarm || machine.alarm <= now {
            workers[index].alarm = machine.alarm
            schedule(.alarm, at: max(machine.alarm, now), of: index)
        }
    }

    private func perform(_ action: WorkerStateMachine.Action, of index: Int) {
        switch action {
        case .claim(let claim): schedule(.call(.claim(claim)), at: arrival, of: index)
        case .report(let report): schedule(.call(.report(report)), at: arrival, of: index)
        case .wait(let after, let time):
            workers[index].numbers += 1
            workers[index].waiting = workers[index].numbers
            // What was said while it was busy counts, too.
            let end = mark > after ? arrival : now.advanced(by: time)
            schedule(.waitEnd(workers[index].numbers), at: end, of: index)
        case .watch(let known, let time):
            workers[index].numbers += 1
            let number = workers[index].numbers
            workers[index].watch = SimulatedWorker.Watch(
                known: known, deadline: now.advanced(by: time), number: number)
            schedule(.look(number), at: arrival, of: index)
        case .start(let run): startHandler(of: run, on: index)
        case .cancel(let run, _): cancelHandler(of: run, on: index)
        case .announce, .leaseLost, .died, .overdue, .leaseGivenUp, .storeFailed, .paused, .resumed: break
        }
    }

    // MARK: - Handlers

    private func startHandler(of run: DurableRun, on index: Int) {
        let fails = failing > 0
        if fails { failing -= 1 }
        let handler = SimulatedWorker.Handler(run: run, endsAt: now.advanced(by: settings.takes), fails: fails)
        workers[index].handlers[run.number] = handler
        records.add(.started, at: now, Int64(index), run.number)
        schedule(.handlerEnd(run.number, handler.number), at: handler.endsAt, of: index)
    }

    /// The handler throws at once, unless it does not ask whether it is cancelled.
    private func cancelHandler(of run: Int64, on index: Int) {
        guard var handler = workers[index].handlers[run] else { return }
        records.add(.cancelling, at: now, Int64(index), run)
        if settings.ignoresCancellation { return }
        handler.number += 1
        handler.isCancelled = true
        workers[index].handlers[run] = handler
        schedule(.handlerEnd(run, handler.number), at: now, of: index)
    }

    private func handlerEnds(_ run: Int64, _ number: Int, of index: Int) {
        guard let handler = workers[index].handlers[run], handler.number == number else { return }
        workers[index].handlers[run] = nil
        let throwing = handler.fails || handler.isCancelled
        if !throwing { write(handler.run, of: index) }
        records.add(.ended, at: now, Int64(index), run, handler.isCancelled ? 2 : handler.fails ? 1 : 0)
        hand(.handlerEnded(run: run, throwing ? .threw("it threw") : .returned), to: index)
    }

    /// Writes to the server, which refuses a fence that is older than one that it has seen of the key.
    private func write(_ run: DurableRun, of index: Int) {
        let isAccepted = fences[run.key].map { $0 <= run.fence } ?? true
        if isAccepted { fences[run.key] = run.fence }
        records.add(
            .effect, at: now, Int64(index), run.number, number(of: run.key), run.fence, isAccepted ? 1 : 0,
            values: run.values.map { number(of: $0) })
    }
}
