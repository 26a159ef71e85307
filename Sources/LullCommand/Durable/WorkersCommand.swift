internal import CLullCommand
internal import LullCore
internal import LullDurable

/// `lull workers`: lists the workers of a namespace.
enum WorkersCommand {
    static func run(_ operands: [Argument], _ options: CommandOptions) throws(Failure) -> Int32 {
        try operands.checkEmpty(for: .workers)
        let namespace = options.namespace
        let store = try options.openStoreReadOnly(for: .workers)
        let workers = try store.ask(for: .workers) { () throws(DurableError) in try store.workers(in: namespace) }
        var output = OutputBuffer(STDOUT_FILENO)
        if options.printsObjects {
            for worker in workers { worker.appendJSON(to: &output.bytes) }
        } else {
            Table.append(
                [DurableWorker.columns] + workers.map(\.cells), left: ["host"], width: Terminal.tableWidth,
                style: options.style,
                to: &output.bytes)
        }
        _ = try output.drain()
        return ExitStatus.success
    }
}

extension DurableWorker {
    fileprivate static let columns = ["host", "process", "running", "seen"]

    fileprivate var cells: [String] {
        [
            Terminal.shown(identity.host), "\(identity.process)", "\(running)",
            DurationText.rounded(CoreDuration(seen).nanoseconds),
        ]
    }

    /// Appends one line with a JSON object.
    fileprivate func appendJSON(to text: inout [UInt8]) {
        text.append(string: "{\"worker\":\(identity.id),\"host\":")
        JSONText.append(Array(identity.host.utf8), to: &text)
        text.append(string: ",\"process\":\(identity.process),\"running\":\(running),\"seen\":")
        DecimalSeconds.append(CoreDuration(seen).nanoseconds, to: &text)
        text.append("}\n")
    }
}
