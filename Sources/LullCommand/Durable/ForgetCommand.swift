internal import LullDurable

/// `lull forget`: deletes a namespace that has no work.
enum ForgetCommand {
    static func run(_ options: CommandOptions) throws(Failure) -> Int32 {
        // Names what it deletes.
        guard let namespace = options.givenNamespace else {
            throw .usage("--namespace is missing: give the one to forget", .forget)
        }
        let store = try options.openStore(for: .forget)
        try store.ask(for: .forget) { () throws(DurableError) in try store.forget(namespace) }
        try OutputBuffer.print("forgot \(Terminal.shown(namespace))\n")
        return ExitStatus.success
    }
}
