internal import CLullCommand
internal import LullCore
internal import LullDurable

// The commands that change what is in a store.

/// `lull submit`: submits one value to a store, and returns when it has been recorded.
enum SubmitCommand {
    static func run(_ operands: [Argument], _ options: CommandOptions) throws(Failure) -> Int32 {
        guard let key = operands.first else { throw .usage("KEY is missing", .submit) }
        try operands.dropFirst(2).checkEmpty(for: .submit)
        if operands.count == 1 { try checkInputIsEmpty() }
        let opened = try OpenedNamespace(options, .submit)
        let bytes = try operands.dropFirst().first.map(value) ?? []
        if CombineRule(opened.rules) == .mergeJSON {
            do throws(JSONScanner.Fault) { _ = try bytes.withUnsafeBufferPointer(JSONScanner.whole) } catch {
                throw .badData("the value is not JSON, and was not submitted: \(error)")
            }
        }
        let submission = DurableSubmission(
            namespace: options.namespace, key: Invocation.bytes(key), value: bytes, wait: options.after,
            token: options.token, context: options.context)
        let receipt = try opened.store.change(for: .submit) { try await $0.submit([submission])[0].get() }
        guard options.printsObjects else { return ExitStatus.success }
        var line: [UInt8] = []
        receipt.json.appendLine(to: &line)
        return OutputBuffer.printDone("the value was recorded", as: line)
    }

    /// Throws if something is piped in: without VALUE an empty value would be recorded in its place.
    private static func checkInputIsEmpty() throws(Failure) {
        // A terminal, or /dev/null.
        if lull_is_device(STDIN_FILENO) != 0 { return }
        var interest = pollfd(descriptor: STDIN_FILENO, Int32(POLLIN))
        let isReady = poll(&interest, 1, Self.patience) != 0
        if isReady, lull_waiting_bytes(STDIN_FILENO) <= 0 { return }
        let what = isReady ? "has something" : "is a pipe that stays open"
        throw .usage("VALUE is missing, but standard input \(what): give - to submit it, or '' for no value", .submit)
    }

    /// How long, in milliseconds, a pipe may be silent before it has an end: those of cron have.
    private static let patience: Int32 = 1000

    /// Returns the value of an argument, or for `-` all of standard input, whatever its bytes.
    private static func value(_ argument: Argument) throws(Failure) -> [UInt8] {
        let bytes = Invocation.bytes(argument)
        guard bytes == [UInt8(ascii: "-")] else { return bytes }
        var value: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count == 0 { return value }
            if count < 0 {
                let code = lull_errno()
                if code == EINTR { continue }
                guard code == EAGAIN || code == EWOULDBLOCK else { throw .system("cannot read", code) }
                var interest = pollfd(descriptor: STDIN_FILENO, Int32(POLLIN))
                poll(&interest, 1, -1)
                continue
            }
            value += buffer[..<count]
            if value.count > RecordReader.longest {
                throw .badData(
                    "the value is longer than \(RecordReader.longest >> 20) MiB, and was not submitted")
            }
        }
    }
}

/// `lull flush` and `lull cancel`: for the given keys, which of a file are one transaction, or for a selection, in
/// steps. `lull touch`: for the given keys, one after the other.
enum KeysCommand {
    static func run(
        _ subcommand: Subcommand, _ operands: [Argument], _ options: CommandOptions
    ) throws(Failure) -> Int32 {
        if subcommand == .touch, operands.isEmpty { throw .usage("KEY is missing", subcommand) }
        try options.checkSelection(besides: operands, "KEY", subcommand)
        let store = try options.openStore(for: subcommand)
        let keys = operands.map { Invocation.bytes($0) }
        let (namespace, wait, selection) = (options.namespace, options.after, options.selection ?? .all)
        if keys.isEmpty, CommandOptions.canAsk, !options.isConfirmed {
            let found = try store.ask(for: subcommand) { try await $0.count(matching: selection, in: namespace) }
            let count = subcommand == .flush ? found.flushable : found.cancellable
            if count > 0 { try options.confirm("\(subcommand.rawValue) \(counted(count, "key"))") }
        }
        let sum = try store.change(for: subcommand) { store in
            switch subcommand {
            case .touch:
                var counts: [Int] = []
                for key in keys { counts.append(try await store.touch(key, in: namespace, wait: wait) ? 1 : 0) }
                return ChangeSum(of: counts)
            default:
                let target = keys.isEmpty ? ChangeTarget.selection(selection) : .keys(keys)
                return try await store.change(subcommand == .flush ? .flush : .cancel, target, in: namespace)
            }
        }
        let total = sum.count
        let verb = subcommand == .touch ? "touched" : subcommand == .flush ? "flushed" : "cancelled"
        let what = counted(total, subcommand == .cancel ? "submit" : "key")
        let object = options.printsObjects ? Array("{\"\(verb)\":\(total)}\n".utf8) : nil
        _ = OutputBuffer.printDone("\(verb) \(what)", as: object)
        let idle = zip(keys, sum.counts).filter { $1 == 0 }
        return OutputBuffer.end(
            reporting: idle.map { "the key \(Terminal.shown($0.0)) has nothing to \(subcommand.rawValue)" })
    }
}

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
