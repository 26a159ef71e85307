internal import CLullCommand
internal import LullDurable

/// `lull flush` and `lull cancel`: for the given keys, which of a file are one transaction, or for all of a namespace, in steps.
enum KeysCommand {
    static func run(
        _ subcommand: Subcommand, _ operands: [Argument], _ options: CommandOptions
    ) throws(Failure) -> Int32 {
        let store = try options.openStore(for: subcommand)
        let namespace = options.namespace
        let flushes = subcommand == .flush
        let keys: [[UInt8]?] = operands.isEmpty ? [nil] : operands.map { Invocation.bytes($0) }
        let counts = try store.ask(for: subcommand) { () throws(DurableError) in
            try store.change(flushes ? .flush : .cancel, keys, in: namespace)
        }
        let total = counts.reduce(0, +)
        let verb = flushes ? "flushed" : "cancelled"
        let unit = flushes ? "key" : "submit"
        let isObject = options.printsObjects
        try OutputBuffer.print(
            isObject ? "{\"\(verb)\":\(total)}\n" : "\(verb) \(total) \(unit)\(total == 1 ? "" : "s")\n")
        let idle = zip(keys, counts).compactMap { key, count in count == 0 ? key : nil }
        OutputBuffer.report(idle.map { "the key \(Terminal.shown($0)) has nothing to \(subcommand.rawValue)" })
        return idle.isEmpty ? ExitStatus.success : ExitStatus.commandFailed
    }
}
