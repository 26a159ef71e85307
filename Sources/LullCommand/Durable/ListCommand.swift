internal import CLullCommand
internal import Lull
internal import LullCore
internal import LullDurable

/// `lull list`: the keys of a namespace that have work.
enum ListCommand {
    /// The number of keys in a query.
    private static let page = 1000

    static func run(_ operands: [Argument], _ options: CommandOptions) throws(Failure) -> Int32 {
        try operands.checkEmpty(for: .list)
        let store = try options.openStoreReadOnly(for: .list)
        var output = OutputBuffer(STDOUT_FILENO)
        if options.watches { return try watch(store, options, &output) }
        var start: [UInt8] = []
        var left = options.limit ?? .max
        var layout: Table.Layout?
        while true {
            let count = min(page, left)
            let keys = try keys(of: store, from: start, count, options)
            left -= keys.count
            // If the list goes on, the columns must be wide enough for cells that are not known yet.
            let goesOn = keys.count == count && left > 0
            append(keys, &layout, goesOn: goesOn, options, to: &output.bytes)
            if case .closed = try output.drain() { return ExitStatus.success }
            guard goesOn, let last = keys.last else { return ExitStatus.success }
            // The next key in the order of bytes.
            start = last.key + [0]
        }
    }

    private static func keys(
        of store: any CommandReader, from start: [UInt8] = [], _ count: Int, _ options: CommandOptions
    ) throws(Failure) -> [DurableListing<[UInt8]>] {
        try store.ask(for: .list) { () throws(DurableError) in
            try store.list(in: options.namespace, from: start, limit: count)
        }
    }

    private static func append(
        _ keys: [DurableListing<[UInt8]>], _ layout: inout Table.Layout?, goesOn: Bool, _ options: CommandOptions,
        to text: inout [UInt8]
    ) {
        if options.format == .json {
            for key in keys { key.appendJSON(to: &text) }
            return
        }
        let rows = keys.map(\.cells)
        var table =
            layout
            ?? Table.Layout(
                [DurableListing<[UInt8]>.columns] + rows, left: ["state"],
                least: goesOn ? DurableListing<[UInt8]>.greatestWidths : [], width: Terminal.tableWidth)
        table.append(rows, to: &text)
        layout = table
    }

    /// Shows the first keys every second: as many as the terminal has lines for.
    private static func watch(
        _ store: any CommandReader, _ options: CommandOptions, _ output: inout OutputBuffer
    ) throws(Failure) -> Int32 {
        try Watch.run(&output) { text throws(Failure) in
            let lines = Int(lull_lines(STDOUT_FILENO))
            // One for the names of the columns, and one for the cursor.
            let count = options.limit ?? (lines > 3 ? lines - 2 : 20)
            var layout: Table.Layout?
            append(try keys(of: store, count, options), &layout, goesOn: false, options, to: &text)
        }
    }
}

extension DurableListing<[UInt8]> {
    fileprivate static let columns = ["key", "state", "due in", "submits", "attempt"]

    /// The widest possible cells.
    fileprivate static let greatestWidths = [40, "running,ready,pending".count, 8, 10, 7]

    fileprivate var cells: [String] {
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

    /// Appends one line with a JSON object.
    fileprivate func appendJSON(to text: inout [UInt8]) {
        text.append("{\"key\":")
        JSONText.append(key, to: &text)
        text.append(string: ",\"pending\":\(pending),\"dueIn\":")
        DecimalSeconds.append(dueIn, to: &text)
        text.append(string: ",\"ready\":\(ready),\"run\":")
        if let run {
            let state = run.isClaimed ? "running" : "retrying"
            text.append(string: "{\"id\":\(run.id),\"state\":\"\(state)\",\"attempt\":\(run.attempt)")
            text.append(string: ",\"submits\":\(run.submits),\"retryIn\":")
            DecimalSeconds.append(run.retryIn, to: &text)
            text.append(",\"error\":")
            JSONText.append(run.error, to: &text)
            text.append("}")
        } else {
            text.append("null")
        }
        text.append("}\n")
    }
}
