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
        let store = try options.storeURL(for: .list).openReadOnly(patience: options.patience, .list)
        let namespace = options.namespace
        var output = OutputBuffer(STDOUT_FILENO)
        var start: [UInt8] = []
        var layout: Table.Layout?
        while true {
            let keys = try store.ask(for: .list) { () throws(DurableError) in
                try store.list(in: namespace, from: start, limit: page)
            }
            if options.format == .json {
                for key in keys { key.appendJSON(to: &output.bytes) }
            } else {
                let rows = keys.map(\.cells)
                // If the list goes on, the columns must be wide enough for cells that are not known yet.
                let least = keys.count == page ? DurableListing<[UInt8]>.greatestWidths : []
                var table =
                    layout
                    ?? Table.Layout(
                        [DurableListing<[UInt8]>.columns] + rows, left: ["state"], least: least,
                        width: Terminal.tableWidth)
                table.append(rows, to: &output.bytes)
                layout = table
            }
            if case .closed = try output.drain() { return ExitStatus.success }
            guard keys.count == page, let last = keys.last else { return ExitStatus.success }
            // The next key in the order of bytes.
            start = last.key + [0]
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
