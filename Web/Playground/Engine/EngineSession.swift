internal import LullCore
internal import LullEngine

/// One engine, and its executions that the page has not yet reported as ended.
///
/// Values stay in the page; here values and keys are the numbers that the page has assigned to them.
final class EngineSession {
    typealias Core = Engine<Int32, Int64>

    private var core: Core
    private var running: [Execution<Int32, Int64>] = []

    init(_ setup: Setup) {
        core = Core(setup)
    }

    // MARK: - Calls: each answers with the actions to perform

    func submit(_ value: Int64, for key: Int32, at now: CoreInstant, wait: CoreDuration?, _ out: inout AnswerBuffer) {
        hand(core.submit(value, for: key, at: now, wait: wait), of: key, &out)
    }

    func advance(to now: CoreInstant, _ out: inout AnswerBuffer) {
        hand(core.advance(to: now), &out)
    }

    func flush(_ key: Int32?, at now: CoreInstant, _ out: inout AnswerBuffer) {
        hand(key.map { core.flush($0, at: now) } ?? core.flush(at: now), &out)
    }

    func touch(_ key: Int32, at now: CoreInstant, wait: CoreDuration?, _ out: inout AnswerBuffer) {
        hand(core.touch(key, at: now, wait: wait), &out)
    }

    func cancel(_ key: Int32?, running: Bool, at now: CoreInstant, _ out: inout AnswerBuffer) {
        hand(key.map { core.cancel($0, running: running, at: now) } ?? core.cancel(running: running, at: now), &out)
    }

    func shutDown(flushing: Bool, at now: CoreInstant, _ out: inout AnswerBuffer) {
        hand(core.shutDown(flushing: flushing, at: now), &out)
    }

    /// - Returns: Whether the execution exists.
    func ended(_ serial: UInt64, threw: Bool, _ out: inout AnswerBuffer) -> Bool {
        guard let index = running.firstIndex(where: { $0.run.serial == serial }) else { return false }
        let execution = running.remove(at: index)
        let (verdict, actions) = core.ended(execution.run, threw ? .threw : .returned, returning: execution.batch)
        out.append(RecordKind.verdict)
        out.append(Int64(serial))
        out.append(verdict.number)
        hand(actions, &out)
        return true
    }

    // MARK: - Queries

    var alarm: CoreInstant { core.alarm }

    func nextDue(_ key: Int32?, at now: CoreInstant) -> CoreInstant? {
        key.map { core.nextDue($0, at: now) } ?? core.nextDue(at: now)
    }

    func count(_ out: inout AnswerBuffer) {
        let counters = core.counters
        for count in [
            counters.submitted, counters.executed, counters.superseded, counters.absorbed, counters.cancelled,
            counters.rejected, counters.failed, counters.pending, counters.running, core.openKeyCount,
        ] { out.append(count) }
        out.append(counters.addUp ? 1 : 0)
    }

    // MARK: - Parts

    /// - Parameter submitted: The key of the submit that these actions answer, if there is one.
    private func hand(_ actions: Actions<Int32, Int64>, of submitted: Int32? = nil, _ out: inout AnswerBuffer) {
        for action in actions.more.prefix(actions.dueBefore) { hand(action, &out) }
        if let submitted {
            out.append(RecordKind.submitted)
            out.append(Int64(submitted))
            out.append(actions.displaced ?? -1)
            out.append(actions.fate.number)
        }
        for action in actions.more.dropFirst(actions.dueBefore) { hand(action, &out) }
    }

    private func hand(_ action: Action<Int32, Int64>, _ out: inout AnswerBuffer) {
        switch action {
        case .start(let execution):
            running.append(execution)
            out.append(RecordKind.start)
            out.append(Int64(execution.run.serial))
            out.append(Int64(execution.key))
            out.append(execution.count)
            out.append(execution.cause.number)
            out.append(execution.at.nanoseconds)
            out.append(execution.first.nanoseconds)
            append(execution.batch, &out)
        case .cancel(let run):
            out.append(RecordKind.cancel)
            out.append(Int64(run.serial))
        case .resolve(let key, let batch, let fate):
            out.append(RecordKind.resolve)
            out.append(Int64(key))
            out.append(fate.number)
            append(batch, &out)
        case .replace, .overdue, .resume, .release: break  // The page adds no waiters, and its keys are plain numbers.
        }
    }

    private func append(_ batch: Batch<Int64>, _ out: inout AnswerBuffer) {
        out.append(batch.size)
        for value in batch.values { out.append(value) }
    }
}
