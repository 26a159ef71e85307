@testable import LullCore
@testable import LullEngine
import LullReference

/// An engine and the reference model that get the same calls, and what the engine's driver would have seen.
final class Comparison {
    private var engine: Engine<String, Int>
    private var model: ReferenceModel
    private let isLazy: Bool
    /// The number of calls between two checks of the engine's invariants.
    private let patience: Int
    private var calls = 0

    /// The fate of every submit by the engine's actions.
    private var fates: [ReferenceFate] = []
    private var starts: [ReferenceExecution] = []
    private var stops: [Int] = []
    private var overdue: [Int] = []
    private var resumes: [Int] = []
    /// The engine's executions by their own numbers, and by those of the model.
    private var executions: [Int: Execution<String, Int>] = [:]
    private var runs: [Int: RunID] = [:]
    /// The values that have joined an execution.
    private var shared: [RunID: [Int]] = [:]
    /// The executions, by the model's numbers, whose handlers have been called.
    private var confirmed: Set<Int> = []
    private var waiterCount = 0
    /// The callers that have waited, and for which key.
    private var waiters: [(id: WaiterID, key: String?)] = []
    /// Calls for all keys that the engine has begun and not carried out yet.
    private var sweeps: [Sweep] = []

    private(set) var executionCount = 0

    init(_ setup: ReferenceSetup, isLazy: Bool = false, patience: Int = 1) throws(PolicyError) {
        engine = Engine(try Setup(setup))
        model = ReferenceModel(setup)
        self.isLazy = isLazy
        self.patience = patience
    }

    /// Applies a call to both.
    ///
    /// - Returns: What they disagree about, or the engine's invariant that does not hold.
    func apply(_ operation: Operation) -> String? {
        switch operation {
        case .submit(let key, let at, let wait):
            arrive(at)
            model.submit(key, at: at, wait: wait)
            fates.append(.pending)
            let delay = wait.map { CoreDuration($0) }
            if let broken = call({ $0.submit(fates.count - 1, for: key, at: CoreInstant(at), wait: delay) }) {
                return broken
            }
        case .flush(let key?, let at):
            arrive(at)
            model.flush(key, at: at)
            note(engine.flush(key, at: CoreInstant(at)))
        case .cancel(let key?, let running, let at):
            arrive(at)
            model.cancel(key, running: running, at: at)
            note(engine.cancel(key, running: running, at: CoreInstant(at)))
        case .flush(nil, let at):
            arrive(at)
            model.flush(at: at)
            if isLazy { begin(.flush, at) } else { note(engine.flush(at: CoreInstant(at))) }
        case .cancel(nil, let running, let at):
            arrive(at)
            model.cancel(running: running, at: at)
            if isLazy {
                begin(.cancel(running: running), at)
            } else {
                note(engine.cancel(running: running, at: CoreInstant(at)))
            }
        case .touch(let key, let at, let wait):
            arrive(at)
            model.touch(key, at: at, wait: wait)
            let delay = wait.map { CoreDuration($0) }
            if let broken = call({ $0.touch(key, at: CoreInstant(at), wait: delay) }) { return broken }
        case .setWait(let wait, let at):
            arrive(at)
            model.setWait(wait, at: at)
            do {
                note(try engine.setWait(CoreDuration(wait), at: CoreInstant(at)))
            } catch {
                return "\(error)"
            }
        case .stopHolding(let flushing):
            if isLazy, let difference = synchronise() { return difference }
            model.stopHolding(flushing: flushing)
            engine.stopHolding(flushing: flushing)
        case .shutDown(let flushing, let at):
            arrive(at)
            model.shutDown(flushing: flushing, at: at)
            if isLazy {
                engine.close()
                engine.stopHolding(flushing: flushing)
                begin(flushing ? .flush : .cancel(running: false), at)
            } else {
                note(engine.shutDown(flushing: flushing, at: CoreInstant(at)))
            }
        case .dropUnreachable(let at):
            arrive(at)
            model.dropUnreachable(at: at)
            begin(.dropUnreachable, at)
            if !isLazy { finishSweeps() }
        case .advance(let at, let limit):
            advance(to: at, limit: limit)
            guard sweeps.isEmpty else { break }
            if limit == nil, engine.openKeyCount != model.openKeys {
                return "\(engine.openKeyCount) open keys instead of \(model.openKeys)"
            }
            if limit == nil, engine.restingKeyCount != model.restingKeys {
                return "\(engine.restingKeyCount) resting keys instead of \(model.restingKeys)"
            }
            return differences()
        case .ended(let number, let ending, let steps):
            if let difference = catchUpBeforeEnd() { return difference }
            guard let run = pick(number, of: model.running) else { break }
            end(run, ending == .unchanged && confirmed.contains(run) ? .returned : ending, telling: steps)
        case .confirmed(let number):
            guard let run = pick(number, of: model.running), let name = runs[run] else { break }
            confirmed.insert(run)
            engine.confirmStart(of: name)
        case .told(let number):
            if let difference = catchUpBeforeEnd() { return difference }
            guard let run = pick(number, of: model.telling), let name = runs[run] else { break }
            model.told(run)
            note(engine.told(name))
        case .wait(let key):
            if isLazy, let difference = synchronise() { return difference }
            waiterCount += 1
            if model.addWaiter(waiterCount, key) != engine.addWaiter(waiterCount, for: key) {
                return "whether there is anything to wait for"
            }
            waiters.append((waiterCount, key))
        case .stopWaiting(let number):
            if isLazy, let difference = synchronise() { return difference }
            guard !waiters.isEmpty else { break }
            let waiter = waiters.remove(at: number % waiters.count)
            model.removeWaiter(waiter.id)
            engine.removeWaiter(waiter.id, for: waiter.key)
        case .ask(let at):
            if let difference = ask(at) { return difference }
        }
        for index in sweeps.indices { note(engine.continueSweep(&sweeps[index], limit: 1)) }
        sweeps.removeAll { $0.isDone }
        return isLazy ? brokenInvariant() : differences()
    }

    private func begin(_ kind: Sweep.Kind, _ at: Int) {
        guard kind != .dropUnreachable else { return sweeps.append(engine.beginSweep(kind, at: CoreInstant(at))) }
        waiterCount += 1
        if !model.addWaiter(waiterCount) { model.events.append(.resume(waiterCount)) }
        sweeps.append(engine.beginSweep(kind, at: CoreInstant(at), waiter: waiterCount))
    }

    private func finishSweeps() {
        for index in sweeps.indices {
            while !sweeps[index].isDone { note(engine.continueSweep(&sweeps[index], limit: .max)) }
        }
        sweeps = []
    }

    /// Lets a lazy engine catch up, and compares everything.
    func synchronise() -> String? {
        finishSweeps()
        advance(to: model.now, limit: nil)
        return differences()
    }

    private func arrive(_ at: Int) {
        if isLazy { model.advance(to: at) } else { advance(to: at, limit: nil) }
    }

    private func advance(to at: Int, limit: Int?) {
        model.advance(to: at)
        // An alarm in the far future means that there is none, and no further call.
        let limit = model.now == .max ? nil : limit
        repeat {
            note(engine.advance(to: CoreInstant(at), limit: limit ?? .max))
        } while engine.alarm.nanoseconds <= model.now && engine.alarm < .farFuture
    }

    /// What falls due while a handler runs depends on when it ends, so the engine has to know the time. While a call
    /// for all keys is under way, the two number what it starts differently.
    private func catchUpBeforeEnd() -> String? {
        if isLazy { advance(to: model.now, limit: nil) }
        return isLazy && sweeps.isEmpty ? synchronise() : nil
    }

    /// The n-th of these executions that the engine has too, modulo their number.
    private func pick(_ number: Int, of executions: [Int]) -> Int? {
        let known = executions.filter { runs[$0] != nil }
        return known.isEmpty ? nil : known[number % known.count]
    }

    private func end(_ run: Int, _ how: ReferenceEnding, telling steps: Int) {
        guard let name = runs[run], let execution = executions[Int(name.serial)] else { return }
        model.ended(run, how, telling: steps)
        let ending: Ending =
            switch how {
            case .returned: .returned
            case .threw: .threw
            case .unchanged: .unchanged
            }
        let (verdict, actions) = engine.ended(name, ending, returning: execution.batch, telling: steps)
        if verdict != .replaced { for value in values(of: name) { fates[value] = ReferenceFate(verdict) } }
        note(actions)
    }

    private func values(of run: RunID) -> [Int] {
        (executions[Int(run.serial)]?.batch.values ?? []) + (shared[run] ?? [])
    }

    private func call(_ body: (inout Engine<String, Int>) -> Actions<String, Int>) -> String? {
        let alarm = engine.alarm
        let actions = body(&engine)
        note(actions)
        return engine.alarm < alarm && !actions.movesAlarm ? "the alarm moved silently" : nil
    }

    private func note(_ actions: Actions<String, Int>) {
        if let displaced = actions.displaced { fates[displaced] = ReferenceFate(actions.fate) }
        if let run = actions.joined {
            fates[fates.count - 1] = .running
            shared[run, default: []].append(fates.count - 1)
        }
        for action in actions.more {
            switch action {
            case .start(let execution):
                starts.append(ReferenceExecution(execution))
                executions[Int(execution.run.serial)] = execution
                for value in execution.batch.values { fates[value] = .running }
            case .cancel(let run): stops.append(Int(run.serial))
            case .replace(let run, let fate): for value in values(of: run) { fates[value] = ReferenceFate(fate) }
            case .resolve(_, let batch, let fate): for value in batch.values { fates[value] = ReferenceFate(fate) }
            case .overdue(let run): overdue.append(Int(run.serial))
            case .resume(let waiter): resumes.append(waiter)
            case .release: break
            }
        }
    }

    // MARK: - Comparing

    private func ask(_ at: Int) -> String? {
        for key in ["a", "b", "c", "d", "e", "f", nil] {
            let expected = model.nextDue(key, at: at)
            let found = key.map { engine.nextDue($0, at: CoreInstant(at)) } ?? engine.nextDue(at: CoreInstant(at))
            if found.map({ Int($0.nanoseconds) }) != expected {
                return "next due of \(key ?? "all") at \(at): \(describe(found)) instead of \(describe(expected))"
            }
        }
        arrive(at)
        for key in ["a", "b", "c", "d", "e", "f"] {
            let (state, actions) = engine.state(of: key, at: CoreInstant(at))
            note(actions)
            let found = [state.pending, state.waiting, state.running]
            // A lazy engine has not started the values of other keys.
            if !isLazy, found != model.state(key) { return "state of \(key): \(found) instead of \(model.state(key))" }
        }
        let all = [engine.state.pending, engine.state.waiting, engine.state.running]
        if !isLazy, all != model.state() { return "state: \(all) instead of \(model.state())" }
        return nil
    }

    private func differences() -> String? {
        var (expectedStarts, expectedResumes): ([ReferenceExecution], [Int]) = ([], [])
        var (expectedStops, expectedOverdue): ([Int], [Int]) = ([], [])
        for event in model.events {
            switch event {
            case .start(let execution): expectedStarts.append(execution)
            case .stop(let run): expectedStops.append(run)
            case .overdue(let run): expectedOverdue.append(run)
            case .resume(let waiter): expectedResumes.append(waiter)
            }
        }
        model.events = []
        if isLazy {
            // Live, different keys are independent: only the order within each is promised.
            starts = inOrderOfKeys(starts)
            expectedStarts = inOrderOfKeys(expectedStarts)
        }
        guard starts.count == expectedStarts.count else { return "starts \(starts) instead of \(expectedStarts)" }
        for (start, expected) in zip(starts, expectedStarts) {
            runs[expected.run] = executions[start.run]?.run
            var renamed = start
            if isLazy { renamed.run = expected.run }
            if renamed != expected { return "starts \(starts) instead of \(expectedStarts)" }
        }
        let namedStops = expectedStops.compactMap { runs[$0]?.serial }.map { Int($0) }
        let namedOverdue = expectedOverdue.compactMap { runs[$0]?.serial }.map { Int($0) }
        if overdue.sorted() != namedOverdue.sorted() { return "overdue \(overdue) instead of \(namedOverdue)" }
        if stops.sorted() != namedStops.sorted() { return "stops \(stops) instead of \(namedStops)" }
        if resumes.sorted() != expectedResumes.sorted() { return "resumes \(resumes) instead of \(expectedResumes)" }
        if fates != model.fates { return "the fates are \(fates) instead of \(model.fates)" }
        let counters = Counters(model.fates, restarts: model.restarts, overdue: model.overdueExecutions)
        if engine.counters != counters { return "the counters are \(engine.counters) instead of \(counters)" }
        executionCount += starts.count
        (starts, stops, overdue, resumes) = ([], [], [], [])
        return unseenDifferences()
    }

    private func unseenDifferences() -> String? {
        if engine.runningExecutions != model.runningExecutions { return "the number of running executions" }
        // An idle gate may be remembered until the next wake-up.
        if engine.openKeyCount < model.openKeys {
            return "\(engine.openKeyCount) open keys instead of \(model.openKeys)"
        }
        if engine.openKeyCount + engine.restingKeyCount < model.openKeys + model.restingKeys {
            return "\(engine.restingKeyCount) resting keys instead of \(model.restingKeys)"
        }
        if let due = model.alarm, engine.alarm.nanoseconds > due {
            return "the alarm is set for \(engine.alarm.nanoseconds), but \(due) is due"
        }
        return brokenInvariant()
    }

    private func brokenInvariant() -> String? {
        calls += 1
        return calls.isMultiple(of: patience) ? engine.checkInvariants().first : nil
    }

    private func inOrderOfKeys(_ starts: [ReferenceExecution]) -> [ReferenceExecution] {
        Dictionary(grouping: starts) { $0.key }.sorted { $0.key < $1.key }.flatMap { $0.value }
    }

    private func describe(_ instant: CoreInstant?) -> String { instant.map { "\($0.nanoseconds)" } ?? "never" }

    private func describe(_ instant: Int?) -> String { instant.map { "\($0)" } ?? "never" }
}

/// The step at which a trial failed, and how.
struct Finding: CustomStringConvertible {
    var trial: Trial
    var step: Int
    var difference: String

    var description: String {
        let calls = trial.operations.prefix(step + 1).map { "    \($0)" }.joined(separator: "\n")
        return "\(trial.setup)\(trial.isLazy ? ", late timer" : "")\n\(calls)\n=> \(difference)"
    }
}

extension Trial {
    /// Runs the trial.
    ///
    /// - Returns: The first disagreement, or nil; and the number of executions.
    func run(patience: Int = 1) throws(PolicyError) -> (finding: Finding?, executions: Int) {
        let comparison = try Comparison(setup, isLazy: isLazy, patience: patience)
        for (step, operation) in operations.enumerated() {
            if let difference = comparison.apply(operation) {
                return (Finding(trial: self, step: step, difference: difference), comparison.executionCount)
            }
        }
        let difference = comparison.synchronise()
        let finding = difference.map { Finding(trial: self, step: operations.count - 1, difference: $0) }
        return (finding, comparison.executionCount)
    }

    /// Returns the same finding, or another one, from as few calls as removing one after another leads to.
    func shrunk() throws(PolicyError) -> Finding? {
        guard var finding = try run().finding else { return nil }
        var length = max(1, finding.step / 2)
        while true {
            var start = 0
            var hasShrunk = false
            while start < finding.trial.operations.count {
                var smaller = finding.trial
                smaller.operations = Array(smaller.operations.prefix(finding.step + 1))
                guard start < smaller.operations.count else { break }
                smaller.operations.removeSubrange(start..<min(start + length, smaller.operations.count))
                if let found = try smaller.run().finding {
                    finding = found
                    hasShrunk = true
                } else {
                    start += length
                }
            }
            if length == 1, !hasShrunk { return finding }
            length = max(1, length / 2)
        }
    }
}
