internal import CLullCommand
internal import Lull
internal import LullCore
internal import LullDurable

/// `lull list`: the keys of a namespace that have work, or with `--ended` what has become of submits.
enum ListCommand {
    /// The number of keys in a query.
    private static let page = 1000
    /// How many ends are listed without `--limit`.
    private static let usualEnds = 100

    static func run(_ operands: [Argument], _ options: CommandOptions) throws(Failure) -> Int32 {
        let store = try options.openStoreReadOnly(for: .list)
        let namespace = options.namespace
        let keys = operands.map { Invocation.bytes($0) }
        if options.listsEnds {
            return try show(keys, options.limit ?? usualEnds, options) { key, limit throws(Failure) in
                try store.ask(for: .list) { () throws(DurableError) in
                    try store.ended(of: key, in: namespace, limit: limit)
                }
            }
        }
        if keys.isEmpty, !options.watches { return try listAll(of: store, options) }
        return try show(keys, options.limit ?? .max, options) { key, limit throws(Failure) in
            let found = try Self.keys(of: store, from: key ?? [], key == nil ? limit : 1, options)
            return found.filter { key == nil || $0.key == key }
        }
    }

    /// Lists all keys, a page at a time.
    private static func listAll(of store: CommandStore, _ options: CommandOptions) throws(Failure) -> Int32 {
        var output = OutputBuffer(STDOUT_FILENO)
        var start: [UInt8] = []
        var left = options.limit ?? .max
        var layout: Table.Layout?
        while true {
            let count = min(page, left)
            let keys = try keys(of: store, from: start, count, options)
            left -= keys.count
            // If the list goes on, the columns must be wide enough for cells that are not known yet.
            let goesOn = keys.count == count && left > 0
            DurableListing.append(keys, &layout, least: goesOn ? greatestWidths : [], options, to: &output.bytes)
            if case .closed = try output.drain() { return ExitStatus.success }
            guard goesOn, let last = keys.last else { return ExitStatus.success }
            // The next key in the order of bytes.
            start = last.key + [0]
        }
    }

    private static func keys(
        of store: CommandStore, from start: [UInt8], _ count: Int, _ options: CommandOptions
    ) throws(Failure) -> [DurableListing<[UInt8]>] {
        try store.ask(for: .list) { () throws(DurableError) in
            try store.list(in: options.namespace, from: start, limit: count)
        }
    }

    /// The widest possible cells of a key that has work.
    private static let greatestWidths = [40, "running,ready,pending".count, 8, 10, 7]

    /// Lists what a query finds for each of some keys, or for all; with `--watch` every second, as much as the terminal has lines for.
    ///
    /// - Parameter find: Takes a key, or nil for all, and the most that it may return.
    private static func show<Item: KeyListed>(
        _ keys: [[UInt8]], _ most: Int, _ options: CommandOptions,
        _ find: ([UInt8]?, _ limit: Int) throws(Failure) -> [Item]
    ) throws(Failure) -> Int32 {
        func all(_ limit: Int) throws(Failure) -> (items: [Item], missing: [[UInt8]]) {
            if keys.isEmpty { return (try find(nil, limit), []) }
            var (items, missing): ([Item], [[UInt8]]) = ([], [])
            for key in keys {
                let found = try find(key, limit)
                if found.isEmpty { missing.append(key) }
                items += found.prefix(limit - items.count)
            }
            return (items, missing)
        }
        if options.watches {
            var output = OutputBuffer(STDOUT_FILENO)
            return try Watch.run(&output) { text throws(Failure) in
                let lines = Int(lull_lines(STDOUT_FILENO))
                // One for the names of the columns, and one for the cursor.
                var layout: Table.Layout?
                let most = options.limit ?? (lines > 3 ? lines - 2 : 20)
                Item.append(try all(most).items, &layout, options, to: &text)
            }
        }
        let (items, missing) = try all(most)
        try Item.print(items, options)
        OutputBuffer.report(missing.map { "the key \(Terminal.shown($0)) has \(Item.none)" })
        return missing.isEmpty ? ExitStatus.success : ExitStatus.commandFailed
    }
}

private protocol KeyListed: Listed {
    /// What a key has that is not listed.
    static var none: String { get }
}

extension DurableListing<[UInt8]>: Listed, KeyListed {
    static var columns: [String] { ["key", "state", "due in", "submits", "attempt"] }
    static var texts: Set<String> { ["state"] }
    fileprivate static var none: String { "no work" }

    var cells: [String] {
        let states = [
            run.map { $0.isClaimed ? "running" : "retrying" }, ready > 0 ? "ready" : nil, pending > 0 ? "pending" : nil,
        ]
        // When the next run is due.
        let due = run?.retryIn ?? (ready > 0 ? nil : dueIn)
        let submits = (run?.submits ?? 0) + ready + pending
        return [
            Table.cell(ofKey: key), states.compactMap { $0 }.joined(separator: ","),
            due.map { DurationText.rounded(CoreDuration($0).nanoseconds) } ?? "-", "\(submits)",
            run.map { "\($0.attempt)" } ?? "-",
        ]
    }

    var json: JSONValue {
        [
            "key": .bytes(key), "pending": .number(pending), "dueIn": .seconds(dueIn), "ready": .number(ready),
            "run": run.map { run in
                [
                    "id": .number(run.id), "state": .text(run.isClaimed ? "running" : "retrying"),
                    "attempt": .number(run.attempt), "submits": .number(run.submits), "retryIn": .seconds(run.retryIn),
                    "error": .text(run.error),
                ]
            } ?? .null,
        ]
    }
}

extension DurableEnd<[UInt8]>: Listed, KeyListed {
    static var columns: [String] { ["key", "end", "age", "run", "error"] }
    static var texts: Set<String> { ["end", "error"] }
    fileprivate static var none: String { "no end that the store still has" }

    var cells: [String] {
        [
            Table.cell(ofKey: key), "\(how.name)", DurationText.rounded(CoreDuration(age).nanoseconds),
            run.map { "\($0)" } ?? "-", error.map { Terminal.lastLine(of: $0) } ?? "-",
        ]
    }

    var json: JSONValue {
        [
            "key": .bytes(key), "end": .text("\(how.name)"), "age": .seconds(age),
            "generations": .array([.number(submits.lowerBound), .number(submits.upperBound)]),
            "run": .number(run), "error": .text(error),
        ]
    }
}
