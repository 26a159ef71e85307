internal import CLullCommand
internal import LullCore
internal import LullDurable

/// `lull workers`: lists the workers of a namespace.
enum WorkersCommand {
    static func run(_ options: CommandOptions) throws(Failure) -> Int32 {
        let namespace = options.namespace
        let store = try options.openStoreReadOnly(for: .workers)
        let workers = try store.ask(for: .workers) { () throws(DurableError) in try store.workers(in: namespace) }
        try DurableWorker.print(workers, options)
        return ExitStatus.success
    }
}

extension DurableWorker: Listed {
    static var columns: [String] { ["host", "process", "running", "seen"] }
    static var texts: Set<String> { [] }

    var cells: [String] {
        [
            Terminal.shown(identity.host), "\(identity.process)", "\(running)",
            DurationText.rounded(CoreDuration(seen).nanoseconds),
        ]
    }

    var json: JSONValue {
        [
            "worker": .number(identity.id), "host": .text(identity.host), "process": .number(identity.process),
            "running": .number(running), "seen": .seconds(seen),
        ]
    }
}
