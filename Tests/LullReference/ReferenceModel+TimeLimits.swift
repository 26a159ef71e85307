// Section 7: how long an execution may run.
extension ReferenceModel {
    /// What a time limit asks for next, of all executions that run.
    var nextTimeLimit: (at: Int, key: Int, run: Int)? {
        guard let limit = setup.timeLimit, limit < .max else { return nil }
        let limits = keys.indices.flatMap { key in
            keys[key].running.indices.compactMap { number -> (at: Int, key: Int, run: Int)? in
                let run = keys[key].running[number]
                if run.telling != nil { return nil }
                let end = later(run.startedAt, by: limit)
                if !run.hasPassedLimit { return (end, key, number) }
                return run.isOverdue || setup.isSynchronous ? nil : (later(end, by: limit), key, number)
            }
        }
        return limits.filter { $0.at < .max }.min { $0.at < $1.at }
    }

    /// An execution has run for as long as it may, or for twice that time.
    mutating func passTimeLimit(_ key: Int, _ number: Int) {
        let run = keys[key].running[number]
        if run.hasPassedLimit {
            tellOverdue(key, number)
        } else {
            keys[key].running[number].hasPassedLimit = true
            if run.fateIfItThrows == .failed, !run.isInterrupted, !run.isReplaced {
                keys[key].running[number].isExpired = true
                events.append(.stop(run.number))
            }
            if setup.isSynchronous { tellOverdue(key, number) }
        }
    }

    private mutating func tellOverdue(_ key: Int, _ number: Int) {
        keys[key].running[number].isOverdue = true
        overdueExecutions += 1
        events.append(.overdue(keys[key].running[number].number))
    }
}
