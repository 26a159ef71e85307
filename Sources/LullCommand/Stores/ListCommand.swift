internal import CLullCommand
internal import LullDurable
internal import LullInspection

/// `lull list`: the keys of a namespace that have work, or with `--ended` what has become of submits.
struct ListCommand {
    private let store: CommandStore
    private let options: CommandOptions

    /// The number of keys in a query.
    private static let page = 1000
    /// How many ends are listed without `--limit`.
    private static let usualEnds = 100
    /// The widest possible cells of a key that has work.
    private static let greatestWidths = [40, "running,ready,pending".count, 8, 10, "1, 10 snoozes".count]

    static func run(_ operands: [Argument], _ options: CommandOptions) throws(Failure) -> Int32 {
        let command = ListCommand(store: try options.openStore(for: .list, isReadOnly: true), options: options)
        let keys = operands.map { Invocation.bytes($0) }
        if options.listsEnds {
            let namespace = options.namespace
            return try command.show(keys, options.limit ?? usualEnds) { key, limit throws(Failure) in
                try command.store.ask(for: .list) { try await $0.ended(of: key, in: namespace, limit: limit) }
            }
        }
        if keys.isEmpty, !options.watches { return try command.listAll() }
        return try command.show(keys, options.limit ?? .max) { key, limit throws(Failure) in
            try command.keys(from: key ?? [], key == nil ? limit : 1).filter { key == nil || $0.key == key }
        }
    }

    private func keys(from start: [UInt8], _ count: Int) throws(Failure) -> [DurableListing<[UInt8]>] {
        let namespace = options.namespace
        return try store.ask(for: .list) {
            try await $0.list(in: namespace, prefix: [], from: start, limit: count)
        }
    }

    /// Lists all keys, a page at a time.
    private func listAll() throws(Failure) -> Int32 {
        var output = OutputBuffer(STDOUT_FILENO)
        var start: [UInt8] = []
        var left = options.limit ?? .max
        var layout: Table.Layout?
        while true {
            let count = min(Self.page, left)
            let keys = try keys(from: start, count)
            left -= keys.count
            // If the list goes on, the columns must be wide enough for cells that are not known yet.
            let goesOn = keys.count == count && left > 0
            let least = goesOn ? Self.greatestWidths : []
            DurableListing.append(keys, &layout, least: least, options, to: &output.bytes)
            if case .closed = try output.drain() { return ExitStatus.success }
            guard goesOn, let last = keys.last else { return ExitStatus.success }
            // The next key in the order of bytes.
            start = last.key + [0]
        }
    }

    /// Lists what a query finds for each of some keys, or for all; with `--watch` every second, as much as the terminal
    /// has lines for.
    ///
    /// - Parameter find: Takes a key, or nil for all, and the most that it may return.
    private func show<Item: KeyListItem>(
        _ keys: [[UInt8]], _ most: Int, _ find: ([UInt8]?, _ limit: Int) throws(Failure) -> [Item]
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
            return try WatchLoop.run { text throws(Failure) in
                let lines = Int(lull_lines(STDOUT_FILENO))
                // One for the names of the columns, and one for the cursor.
                let most = options.limit ?? (lines > 3 ? lines - 2 : 20)
                var layout: Table.Layout?
                Item.append(try all(most).items, &layout, options, to: &text)
            }
        }
        let (items, missing) = try all(most)
        try Item.print(items, options)
        return OutputBuffer.end(reporting: missing.map { "the key \(Terminal.shown($0)) has \(Item.none)" })
    }
}

private protocol KeyListItem: ListItem {
    /// What a key has that is not listed.
    static var none: String { get }
}

extension DurableListing<[UInt8]>: ListItem, KeyListItem {
    static var columns: [String] { ["key", "state", "due in", "submits", "attempt"] }
    static var texts: Set<String> { ["state"] }
    fileprivate static var none: String { "no work" }

    var cells: [String] {
        let states = [
            run?.stateWord, ready > 0 ? "ready" : nil, pending > 0 ? "pending" : nil,
        ]
        // When the next run is due.
        let due = run?.retryIn ?? (ready > 0 ? nil : dueIn)
        let submits = (run?.submits ?? 0) + ready + pending
        return [
            Table.cell(ofKey: key), states.compactMap { $0 }.joined(separator: ","),
            due.map { DurationText.rounded($0) } ?? "-", "\(submits)",
            run.map { "\($0.attempt)" + ($0.snoozes > 0 ? ", \(counted($0.snoozes, "snooze"))" : "") } ?? "-",
        ]
    }

    var json: JSONValue {
        [
            "key": .bytes(key), "pending": .number(pending), "pendingFor": .seconds(pendingFor),
            "dueIn": .seconds(dueIn), "ready": .number(ready), "readyFor": .seconds(readyFor),
            "run": run.map { run in
                [
                    "id": .number(run.number), "state": .text(run.stateWord),
                    "attempt": .number(run.attempt), "snoozes": .number(run.snoozes), "submits": .number(run.submits),
                    "runningFor": .seconds(run.runningFor), "retryIn": .seconds(run.retryIn),
                    "error": .text(run.error), "worker": .number(run.worker), "leaseFor": .seconds(run.leaseFor),
                ]
            } ?? .null,
        ]
    }
}

extension DurableListedRun {
    fileprivate var stateWord: String { isClaimed ? "running" : isSnoozed ? "snoozed" : "retrying" }
}

extension DurableEnd<[UInt8]>: ListItem, KeyListItem {
    static var columns: [String] { ["key", "end", "age", "run", "error"] }
    static var texts: Set<String> { ["end", "error"] }
    fileprivate static var none: String { "no end that the store still has" }

    static func paint(_ cell: String, _ column: String, _ style: Terminal.Style) -> String {
        switch (column, cell) {
        case ("end", "dead"): style.alarming(cell)
        case ("end", "failed"): style.notable(cell)
        default: cell
        }
    }

    var cells: [String] {
        [
            Table.cell(ofKey: key), "\(how.name)", DurationText.rounded(age),
            run.map { "\($0)" } ?? "-", error.map { Table.cell(ofError: $0) } ?? "-",
        ]
    }

    var json: JSONValue {
        [
            "key": .bytes(key), "end": .text("\(how.name)"), "age": .seconds(age),
            "generations": .array([.number(submits.lowerBound), .number(submits.upperBound)]),
            "run": .number(runNumber), "error": .text(error),
        ]
    }
}
