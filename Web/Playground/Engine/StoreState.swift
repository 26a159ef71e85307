internal import LullCore

extension StoreSimulation {
    /// Writes what there is: the keys, each with its pending and ready value and its run; the workers with their
    /// handlers; the dead runs; the number of submits with each outcome; and the rules of the store that are broken.
    func write(to out: inout AnswerBuffer) {
        out.append(namespace.latestPause == nil ? 0 : 1)
        let entries = entries()
        out.append(entries.count)
        var live: [Int64] = [0, 0, 0, 0]
        for entry in entries { write(entry, &live, to: &out) }
        out.append(workers.count)
        for worker in workers { write(worker, to: &out) }
        writeEnds(live, to: &out)
        let namespace = namespace
        let broken = table.checkInvariants(of: namespace, isComplete: discarded == 0)
        out.append(broken.count)
        for sentence in broken { out.append(sentence) }
    }

    private func write(_ entry: DurableEntry, _ live: inout [Int64], to out: inout AnswerBuffer) {
        let (row, endings) = settled(entry)
        // What ends in a step is recorded with the next one that writes.
        for ending in endings where ending.how == .failed { live[3] += Int64(ending.submits.count) }
        out.append(number(of: entry.key))
        if row.pending != nil {
            live[0] += Int64(row.pendingSubmits?.count ?? 0)
            out.append(row.gate.count)
            out.append(row.gate.first.nanoseconds)
            out.append(row.due(by: namespace.rules)?.nanoseconds ?? -1)
        } else {
            for number in [0, -1, -1] as [Int64] { out.append(number) }
        }
        if let ready = row.ready {
            live[1] += Int64(ready.submits.count)
            out.append(ready.count)
            out.append(ready.first.nanoseconds)
            out.append(ready.isHeld ? -1 : ready.due.nanoseconds)
        } else {
            for number in [0, -1, -1] as [Int64] { out.append(number) }
        }
        if let run = row.run {
            live[run.isInBackoff ? 3 : 2] += Int64(run.value.submits.count)
            for number in [
                run.id, Int64(run.attempt), run.fence, owner(run.owner), run.state.end.nanoseconds,
                run.isInBackoff ? 1 : 0, run.isInterrupted ? 1 : 0, Int64(run.value.count),
            ] { out.append(number) }
        } else {
            out.append(-1 as Int64)
        }
    }

    private func write(_ worker: SimulatedWorker, to out: inout AnswerBuffer) {
        out.append(
            worker.machine == nil ? 0 : worker.asleepUntil > now ? 2 : worker.isStopping ? 3 : 1 as Int64)
        out.append(worker.asleepUntil > now ? worker.asleepUntil.nanoseconds : -1)
        out.append(worker.cutOffUntil > now ? worker.cutOffUntil.nanoseconds : -1)
        let runs = worker.handlers.keys.sorted()
        out.append(runs.count)
        for run in runs { out.append(run) }
    }

    /// Writes the dead runs, and of how many submits there is each outcome.
    private func writeEnds(_ live: [Int64], to out: inout AnswerBuffer) {
        var ended: [Int64] = [0, 0, 0, 0, 0]
        var dead: [(run: Int64, key: Int64, error: String)] = []
        for end in table.ended(of: nil, limit: .max, in: namespace) {
            let count = Int64(end.submits.count)
            switch end.how {
            case .completed: ended[0] += count
            case .failed: ended[1] += count
            case .cancelled: ended[2] += count
            case .absorbed: ended[3] += count
            case .dead:
                ended[4] += count
                if let run = end.runNumber { dead.append((run, number(of: end.key), end.error ?? "")) }
            }
        }
        out.append(dead.count)
        for (run, key, error) in dead.sorted(by: { $0.run < $1.run }) {
            out.append(run)
            out.append(key)
            out.append(error)
        }
        out.append(submitted)
        for count in ended { out.append(count) }
        for count in live { out.append(count) }
        out.append(discarded)
    }
}
