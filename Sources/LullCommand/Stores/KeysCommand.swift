internal import LullDurable

/// `lull flush` and `lull cancel`: for the given keys, which of a file are one transaction, or for a selection, in
/// steps. `lull touch`: for the given keys, one after the other.
enum KeysCommand {
    static func run(
        _ subcommand: Subcommand, _ operands: [Argument], _ options: CommandOptions
    ) throws(Failure) -> Int32 {
        if subcommand == .touch, operands.isEmpty { throw .usage("KEY is missing", subcommand) }
        try options.checkSelection(besides: operands, "KEY", subcommand)
        let store = try options.openStore(for: subcommand)
        let keys = operands.map { Invocation.bytes($0) }
        let (namespace, wait, selection) = (options.namespace, options.after, options.selection ?? .all)
        if keys.isEmpty, CommandOptions.canAsk, !options.isConfirmed {
            let found = try store.ask(for: subcommand) { try await $0.count(matching: selection, in: namespace) }
            let count = subcommand == .flush ? found.flushable : found.cancellable
            if count > 0 { try options.confirm("\(subcommand.rawValue) \(counted(count, "key"))") }
        }
        let sum = try store.change(for: subcommand) { store in
            switch subcommand {
            case .touch:
                var counts: [Int] = []
                for key in keys { counts.append(try await store.touch(key, in: namespace, wait: wait) ? 1 : 0) }
                return ChangeSum(of: counts)
            default:
                let target = keys.isEmpty ? ChangeTarget.selection(selection) : .keys(keys)
                return try await store.change(subcommand == .flush ? .flush : .cancel, target, in: namespace)
            }
        }
        let total = sum.count
        let verb = subcommand == .touch ? "touched" : subcommand == .flush ? "flushed" : "cancelled"
        let what = counted(total, subcommand == .cancel ? "submit" : "key")
        let object = options.printsObjects ? Array("{\"\(verb)\":\(total)}\n".utf8) : nil
        _ = OutputBuffer.printDone("\(verb) \(what)", as: object)
        let idle = zip(keys, sum.counts).filter { $1 == 0 }
        return OutputBuffer.end(
            reporting: idle.map { "the key \(Terminal.shown($0.0)) has nothing to \(subcommand.rawValue)" })
    }
}
