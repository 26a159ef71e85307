internal import CLullCommand
internal import LullCore
internal import LullDurable
internal import LullSQLite

/// Where pending work is kept: `sqlite:PATH`.
enum StoreURL {
    private static let scheme = "sqlite:"

    static func path(_ text: String, _ subcommand: Subcommand) throws(Failure) -> String {
        guard text.hasPrefix(scheme), text.count > scheme.count else {
            throw .usage("--store must be \(scheme)PATH, not \"\(text)\"", subcommand)
        }
        let path = String(text.dropFirst(scheme.count))
        // Such names mean something else to SQLite: they would be lost with the process, or ask for what is not done.
        if path == ":memory:" {
            throw .usage("--store \(text) would be lost with the process: name a file, as \(scheme)PATH", subcommand)
        }
        if path.hasPrefix("file:") {
            throw .usage(
                "--store takes a path, and no URI or its parameters: write \(scheme)PATH, not \"\(text)\"", subcommand)
        }
        return path
    }

    /// Opens a store.
    ///
    /// - Parameter creates: Whether a file that is not there is made.
    static func open(_ text: String, creates: Bool, _ subcommand: Subcommand) throws(Failure) -> SQLiteFile {
        let path = try path(text, subcommand)
        var options = SQLiteFile.Options()
        options.creates = creates
        // What can be read as a record can be kept.
        options.limits.largestValue = RecordReader.longest
        do throws(DurableError) {
            return try SQLiteFile(path, options)
        } catch {
            throw creates ? Failure(error, subcommand) : failure(error, path, subcommand)
        }
    }

    /// A store to look at.
    static func look(at text: String, _ subcommand: Subcommand) throws(Failure) -> SQLiteReader {
        let path = try path(text, subcommand)
        do throws(DurableError) {
            return try SQLiteReader(path)
        } catch {
            throw failure(error, path, subcommand)
        }
    }

    /// A store that could not be opened by what makes none: where there is no file, with what does.
    private static func failure(_ error: DurableError, _ path: String, _ subcommand: Subcommand) -> Failure {
        guard access(path, F_OK) != 0, lull_errno() == ENOENT else { return Failure(error, subcommand) }
        return Failure(
            status: ExitStatus.inputOutput,
            message: "\(error): lull submit, run, filter or work makes it, with a policy such as --wait 5s")
    }
}

extension Failure {
    /// A store that did not do what it was asked.
    init(_ error: DurableError, _ subcommand: Subcommand) {
        switch error {
        case .otherPolicy, .noPolicy: self = .usage("\(error)", subcommand)
        case .tooLarge, .tokenOfOtherKey, .unencodable: self.init(status: ExitStatus.badData, message: "\(error)")
        case .refused, .unknown, .unusable, .closed: self.init(status: ExitStatus.inputOutput, message: "\(error)")
        }
    }

    /// The same, with the namespaces that there are where one is not.
    init(_ error: DurableError, namespaces names: [String], _ subcommand: Subcommand) {
        guard case .noPolicy(let name) = error else {
            self.init(error, subcommand)
            return
        }
        let what =
            Option.wait.belongs(to: subcommand)
            ? "the namespace \(Terminal.shown(name)) is not there yet: its first use has to say the policy"
            : "there is no namespace \(Terminal.shown(name))"
        self = .usage("\(what); \(Self.list(of: names))", subcommand)
    }

    /// As many as can be read at a glance.
    private static func list(of names: [String]) -> String {
        let list = names.map { Terminal.shown($0, upTo: 20) }.joined(separator: ", ")
        return switch names.count {
        case 0: "the store has none yet"
        case 1...8: "the store has \(list)"
        default: "the store has \(names.count), which lull status lists"
        }
    }
}

extension SQLiteFile {
    /// Does something in a transaction of its own. A namespace that is not there is answered with those that are.
    func write<Answer: Sendable>(
        for subcommand: Subcommand,
        _ body: @escaping @Sendable (inout SQLiteTransaction) throws(DurableError) -> Answer
    ) throws(Failure) -> Answer {
        do throws(DurableError) {
            return try write(body)
        } catch {
            let names = try? read { transaction throws(DurableError) in try transaction.names() }
            throw Failure(error, namespaces: names ?? [], subcommand)
        }
    }
}

extension Settings {
    /// The store that the options name.
    func store(creates: Bool, for subcommand: Subcommand) throws(Failure) -> SQLiteFile {
        try StoreURL.open(givenStore(for: subcommand), creates: creates, subcommand)
    }

    /// The store that the options name, to look at: for what changes nothing, and needs no right to write.
    func storeToLookAt(for subcommand: Subcommand) throws(Failure) -> SQLiteReader {
        try StoreURL.look(at: givenStore(for: subcommand), subcommand)
    }

    /// The path of the store if there is no such file.
    func missingStore(for subcommand: Subcommand) throws(Failure) -> String? {
        let path = try StoreURL.path(givenStore(for: subcommand), subcommand)
        return access(path, F_OK) == 0 ? nil : path
    }

    private func givenStore(for subcommand: Subcommand) throws(Failure) -> String {
        guard let store else { throw .usage("--store is missing: say where, as sqlite:PATH", subcommand) }
        return store
    }

    // MARK: - Options that a store gives a meaning, or takes it

    /// Refuses what has no meaning where a store keeps what is pending.
    func checkDurable(_ subcommand: Subcommand) throws(Failure) {
        if maxKeys != nil { throw .usage("--max-keys has no meaning with --store", subcommand) }
        if let whileRunning, whileRunning != .queue {
            throw .usage("--while-running must be queue with --store", subcommand)
        }
    }

    /// Refuses what has a meaning only where a store keeps what is pending: without one it would look as if it did.
    func checkVolatile(_ subcommand: Subcommand) throws(Failure) {
        if let option = storeOptions.first { throw .usage("--\(option.name) needs --store", subcommand) }
        if atEnd == .keep { throw .usage("--at-end keep needs --store", subcommand) }
    }
}
