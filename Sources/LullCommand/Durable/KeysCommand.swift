internal import CLullCommand
internal import LullDurable

/// `lull flush` and `lull cancel`: for the given keys, in one transaction, or for all of a namespace, in steps.
enum KeysCommand {
    static func run(
        _ subcommand: Subcommand, _ operands: [Argument], _ options: CommandOptions
    ) throws(Failure) -> Int32 {
        let store = try options.storeURL(for: subcommand).open(creates: false, patience: options.patience, subcommand)
        let namespace = options.namespace
        let flushes = subcommand == .flush
        let keys: [[UInt8]?] = operands.isEmpty ? [nil] : operands.map { Invocation.bytes($0) }
        let counts = try store.ask(for: subcommand) { () throws(DurableError) in
            flushes ? try store.flush(keys, in: namespace) : try store.cancel(keys, in: namespace)
        }
        var log = OutputBuffer(STDERR_FILENO)
        let total = counts.reduce(0, +)
        let verb = flushes ? "flushed" : "cancelled"
        let unit = flushes ? "key" : "submit"
        let isObject = options.format == .json
        try OutputBuffer.print(
            isObject ? "{\"\(verb)\":\(total)}\n" : "\(verb) \(total) \(unit)\(total == 1 ? "" : "s")\n")
        for (key, count) in zip(keys, counts) where count == 0 {
            if let key { log.report("the key \(Terminal.shown(key)) has nothing to \(subcommand.rawValue)") }
        }
        let isShort = !log.isEmpty
        _ = try? log.drain()
        return isShort ? ExitStatus.commandFailed : ExitStatus.success
    }
}
