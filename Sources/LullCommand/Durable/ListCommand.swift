internal import CLullCommand
internal import Lull
internal import LullCore
internal import LullDurable
internal import LullSQLite

/// `lull list`: the keys of a namespace that are not at rest.
enum ListCommand {
    /// As many keys are asked for at once.
    private static let page = 1000

    static func run(_ operands: [Argument], _ settings: Settings) throws(Failure) -> Int32 {
        try operands.checkEmpty(for: .list)
        let file = try settings.storeToLookAt(for: .list)
        let namespace = settings.namespace
        var output = Outlet(STDOUT_FILENO)
        var start: [UInt8] = []
        var layout: Table.Layout?
        while true {
            let keys = try file.look(for: .list) { transaction throws(DurableError) in
                try transaction.list(in: namespace, from: start, limit: page)
            }
            if settings.format == .json {
                for key in keys { key.appendJSON(to: &output.text) }
            } else {
                let rows = keys.map(\.cells)
                // Of a list that goes on, the widths must do for what is not known yet.
                let least = keys.count == page ? DurableListing<[UInt8]>.greatestWidths : []
                var table =
                    layout
                    ?? Table.Layout(
                        [DurableListing<[UInt8]>.columns] + rows, left: ["state"], least: least,
                        width: Terminal.tableWidth)
                table.append(rows, to: &output.text)
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

    /// What the cells can have.
    fileprivate static let greatestWidths = [40, "running,ready,pending".count, 8, 10, 7]

    fileprivate var cells: [String] {
        let states = [
            run.map { $0.isClaimed ? "running" : "retrying" }, ready > 0 ? "ready" : nil, pending > 0 ? "pending" : nil,
        ]
        // What comes first.
        let due = run?.retryIn ?? (ready > 0 ? nil : dueIn)
        let submits = (run?.submits ?? 0) + ready + pending
        return [
            Table.cell(ofKey: key), states.compactMap { $0 }.joined(separator: ","),
            due.map { DurationText.rounded(CoreDuration($0).nanoseconds) } ?? "-", "\(submits)",
            run.map { "\($0.attempt)" } ?? "-",
        ]
    }

    /// One JSON object in a line.
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
