internal import CLullCommand
internal import LullDurable

/// A store with an open namespace, ready for submits and work.
struct OpenedNamespace {
    let store: CommandStore
    let rules: DurableRules

    /// Opens something of a store, again and again while the store cannot be used for now.
    static func awaiting<Opened>(_ open: () throws(Failure) -> Opened) throws(Failure) -> Opened {
        var reported: String?
        var pause: UInt32 = 100_000
        while true {
            do throws(Failure) {
                return try open()
            } catch {
                guard error.mayPass else { throw error }
                // Until the session handles them, signals end the program.
                Signals.unblock()
                if error.message != reported {
                    OutputBuffer.report(["the store cannot be used yet and is asked again: \(error.message)"])
                    reported = error.message
                }
                usleep(pause)
                pause = min(pause * 2, 1_000_000)
            }
        }
    }

    /// Opens the store. A file is created if the options give enough of a policy.
    init(_ options: CommandOptions, _ subcommand: Subcommand) throws(Failure) {
        let policy = try NamespacePolicy(options, subcommand)
        let url = try options.storeURL(for: subcommand)
        let missing = url.missingFile
        let new: DurableRules?
        do throws(Failure) {
            new = try policy.rulesForNewNamespace()
        } catch {
            // The store may have what is missing. Without a store, this is the better message.
            guard missing == nil else { throw error }
            new = nil
        }
        if let missing, new == nil {
            throw .usage(
                "there is no file \(missing) yet: its first use must give the policy, such as --wait 5s", subcommand)
        }
        let (store, name) = (
            try url.open(creates: new != nil, patience: options.patience, subcommand), options.namespace
        )
        self.store = store
        rules = try Self.open(name, with: policy, in: store, subcommand)
    }

    private static func open(
        _ name: String, with policy: NamespacePolicy, in store: CommandStore, _ subcommand: Subcommand
    ) throws(Failure) -> DurableRules {
        while true {
            let stored = try store.change(for: subcommand) { store -> DurableRules? in
                do { return try await store.open(name, nil) } catch DurableError.noPolicy { return nil }
            }
            let given = try policy.rules(over: stored, of: name)
            if let stored, given == nil { return stored }
            let opened = try store.change(for: subcommand) { store -> DurableRules? in
                do {
                    return try await store.open(name, given, changingPolicy: stored != nil).rules
                } catch DurableError.otherPolicy {
                    // Others have opened it meanwhile, with a policy with which this one is yet to be compared.
                    return nil
                }
            }
            if let opened { return opened }
        }
    }
}
