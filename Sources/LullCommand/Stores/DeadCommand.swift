internal import LullDurable

/// `lull dead`: lists, retries or discards the runs of a store that have failed for good.
enum DeadCommand {
    /// The greatest number of runs in a list.
    private static let most = 1000

    static func run(_ operands: [Argument], _ options: CommandOptions) throws(Failure) -> Int32 {
        let words = operands.map { String(cString: $0) }
        let namespace = options.namespace
        switch words.first {
        case "list":
            if options.selection != nil {
                throw .usage("--all, --prefix, --older-than and --error are only for retry and discard", .dead)
            }
            try operands.dropFirst().checkEmpty(for: .dead)
            let store = try options.openStore(for: .dead, isReadOnly: true)
            // The table has no values, which may be megabytes.
            let hasValues = options.printsObjects
            let dead = try store.ask(for: .dead) {
                try await $0.deadRuns(
                    matching: .all, in: namespace, newestFirst: false, limit: most, withValues: hasValues)
            }
            try DurableDeadRun.print(dead, options)
            return ExitStatus.success
        case "retry", "discard":
            try options.checkSelection(besides: Array(operands.dropFirst()), "RUN", .dead)
            let store = try options.openStore(for: .dead)
            guard let selection = options.selection else {
                return try change(try runs(words.dropFirst()), words[0] == "retry", store, namespace)
            }
            return try change(selection, words[0], store, options)
        case let word?: throw .usage("the action must be list, retry or discard, not \"\(word)\"", .dead)
        case nil: throw .usage("the action is missing: list, retry or discard", .dead)
        }
    }

    private static func runs(_ words: ArraySlice<String>) throws(Failure) -> [Int64] {
        var runs: [Int64] = []
        for word in words {
            guard let run = Int64(word) else { throw .usage("RUN must be a number, not \"\(word)\"", .dead) }
            runs.append(run)
        }
        if runs.isEmpty {
            throw .usage("RUN is missing: give the numbers that lull dead list shows, or --all", .dead)
        }
        return runs
    }

    /// Retries or discards the runs of a selection, some at a time. Those that are refused are counted, not named.
    private static func change(
        _ selection: DurableSelection, _ action: String, _ store: CommandStore, _ options: CommandOptions
    ) throws(Failure) -> Int32 {
        let namespace = options.namespace
        let runs = try store.ask(for: .dead) { try await $0.deadRuns(matching: selection, in: namespace) }
        if runs.isEmpty {
            throw .failed("\(Terminal.shown(namespace)) has no dead runs\(selection == .all ? "" : " of that kind")")
        }
        try options.confirm("\(action) \(counted(runs.count, "dead run"))")
        let counts = try store.change(for: .dead) {
            try await DeadRuns.change(runs, retries: action == "retry", namespace, in: $0)
        }
        let done = counted(counts[.accepted] ?? 0, "dead run")
        _ = OutputBuffer.printDone("\(action == "retry" ? "retried" : "discarded") \(done)")
        return OutputBuffer.end(reporting: DeadRuns.refusals(counts))
    }

    /// Retries or discards runs, each in a transaction of its own: one that fails does not stop the others.
    private static func change(
        _ runs: [Int64], _ retries: Bool, _ store: CommandStore, _ namespace: String
    ) throws(Failure) -> Int32 {
        var messages: [String] = []
        for run in runs {
            let answer = try store.change(for: .dead) {
                if retries { return try await $0.retry(run, in: namespace) }
                return try await $0.discard(run, in: namespace) ? DurableRetry.accepted : .notFound
            }
            switch answer {
            case .accepted: break
            case .notFound: messages.append("run \(run) is not a dead run of \(Terminal.shown(namespace))")
            case .outdated: messages.append("run \(run) was not retried: its key has a newer value")
            case .busy: messages.append("run \(run) was not retried: its key has another run")
            }
        }
        let count = counted(runs.count - messages.count, "dead run")
        _ = OutputBuffer.printDone("\(retries ? "retried" : "discarded") \(count)")
        return OutputBuffer.end(reporting: messages)
    }
}

/// Retrying and discarding many dead runs.
enum DeadRuns {
    /// Retries or discards runs, some at a time.
    ///
    /// - Returns: How many there were of each answer.
    static func change(
        _ runs: [Int64], retries: Bool, _ namespace: String, in store: any WatchedStore
    ) async throws(DurableError) -> [DurableRetry: Int] {
        var counts: [DurableRetry: Int] = [:]
        var rest = runs[...]
        while !rest.isEmpty {
            let some = Array(rest.prefix(DurableSelection.step))
            rest = rest.dropFirst(some.count)
            if retries {
                for answer in try await store.retry(some, in: namespace) { counts[answer, default: 0] += 1 }
            } else {
                counts[.accepted, default: 0] += try await store.discard(some, in: namespace)
            }
        }
        return counts
    }

    /// Returns a sentence for each reason why runs were not retried. They are counted, not named.
    static func refusals(_ counts: [DurableRetry: Int]) -> [String] {
        let reasons: [(answer: DurableRetry, one: String, many: String)] = [
            (.outdated, "its key has a newer value", "their keys have newer values"),
            (.busy, "its key has another run", "their keys have other runs"),
        ]
        return reasons.compactMap { reason in
            counts[reason.answer].map { count in
                count == 1
                    ? "1 dead run was not retried: \(reason.one)"
                    : "\(count) dead runs were not retried: \(reason.many)"
            }
        }
    }
}
