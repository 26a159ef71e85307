internal import LullDurable

/// `lull forget`: deletes a namespace that has no work.
enum ForgetCommand {
    static func run(_ options: CommandOptions) throws(Failure) -> String {
        // Names what it deletes.
        guard let namespace = options.givenNamespace else {
            throw .usage("--namespace is missing: give the one to forget", .forget)
        }
        try options.openStore(for: .forget).change(for: .forget) { try await $0.forget(namespace) }
        return "forgot \(Terminal.shown(namespace))"
    }
}
