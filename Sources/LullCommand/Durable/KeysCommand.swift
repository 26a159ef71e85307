internal import CLullCommand
internal import LullDurable

/// `lull flush` and `lull cancel`: for the given keys, which of a file are one transaction, or for all of a namespace, in steps.
/// `lull touch`: for the given keys, one after the other.
enum KeysCommand {
    static func run(
        _ subcommand: Subcommand, _ operands: [Argument], _ options: CommandOptions
    ) throws(Failure) -> Int32 {
        if subcommand == .touch, operands.isEmpty { throw .usage("KEY is missing", subcommand) }
        let store = try options.openStore(for: subcommand)
        let namespace = options.namespace
        let keys: [[UInt8]?] = operands.isEmpty ? [nil] : operands.map { Invocation.bytes($0) }
        let counts = try store.ask(for: subcommand) { () throws(DurableError) in
            switch subcommand {
            case .touch: try store.touch(keys.compactMap { $0 }, wait: options.after, in: namespace)
            case .flush: try store.change(.flush, keys, in: namespace)
            default: try store.change(.cancel, keys, in: namespace)
            }
        }
        let total = counts.reduce(0, +)
        let verb = subcommand == .touch ? "touched" : subcommand == .flush ? "flushed" : "cancelled"
        let unit = subcommand == .cancel ? "submit" : "key"
        let isObject = options.printsObjects
        try OutputBuffer.print(
            isObject ? "{\"\(verb)\":\(total)}\n" : "\(verb) \(total) \(unit)\(total == 1 ? "" : "s")\n")
        let idle = zip(keys, counts).compactMap { key, count in count == 0 ? key : nil }
        OutputBuffer.report(idle.map { "the key \(Terminal.shown($0)) has nothing to \(subcommand.rawValue)" })
        return idle.isEmpty ? ExitStatus.success : ExitStatus.commandFailed
    }
}
