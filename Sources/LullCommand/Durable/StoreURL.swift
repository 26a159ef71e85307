internal import CLullCommand
internal import LullCore
internal import LullDurable
internal import LullSQLite

/// The URL of a store: `sqlite:PATH`.
enum StoreURL {
    private static let scheme = "sqlite:"

    static func path(_ text: String, _ subcommand: Subcommand) throws(Failure) -> String {
        guard text.hasPrefix(scheme), text.count > scheme.count else {
            throw .usage("--store must be \(scheme)PATH, not \"\(text)\"", subcommand)
        }
        let path = String(text.dropFirst(scheme.count))
        // SQLite gives these names another meaning: a store that ends with the process, or parameters that are not supported.
        if path == ":memory:" {
            throw .usage("--store \(text) would be lost with the process: name a file, as \(scheme)PATH", subcommand)
        }
        if path.hasPrefix("file:") {
            throw .usage(
                "--store takes a path, not a URI or its parameters: write \(scheme)PATH, not \"\(text)\"", subcommand)
        }
        return path
    }

    /// Opens a store.
    ///
    /// - Parameter creates: Whether a missing file is created.
    static func open(_ text: String, creates: Bool, _ subcommand: Subcommand) throws(Failure) -> SQLiteFile {
        let path = try path(text, subcommand)
        var options = SQLiteFile.Options()
        options.creates = creates
        // A value can be as long as a record.
        options.limits.largestValue = RecordReader.longest
        do throws(DurableError) {
            return try SQLiteFile(path, options)
        } catch {
            throw creates ? Failure(error, subcommand) : failure(error, path, subcommand)
        }
    }

    /// Opens a store for reading only.
    static func openReadOnly(_ text: String, _ subcommand: Subcommand) throws(Failure) -> SQLiteReader {
        let path = try path(text, subcommand)
        do throws(DurableError) {
            return try SQLiteReader(path)
        } catch {
            throw failure(error, path, subcommand)
        }
    }

    /// Returns the failure of a command that creates no store; if the file is missing, the message names the commands that do.
    private static func failure(_ error: DurableError, _ path: String, _ subcommand: Subcommand) -> Failure {
        guard access(path, F_OK) != 0, lull_errno() == ENOENT else { return Failure(error, subcommand) }
        return Failure(
            status: ExitStatus.inputOutput,
            message: "\(error): lull submit, run, filter or work creates it, with a policy such as --wait 5s")
    }
}

extension Failure {
    /// Creates the failure for an error of a store.
    init(_ error: DurableError, _ subcommand: Subcommand) {
        switch error {
        case .otherPolicy, .noPolicy: self = .usage("\(error)", subcommand)
        case .tooLarge, .tokenOfOtherKey, .unencodable: self.init(status: ExitStatus.badData, message: "\(error)")
        case .refused, .unknown, .unusable, .closed: self.init(status: ExitStatus.inputOutput, message: "\(error)")
        }
    }

    /// Creates the failure for an error of a store; for an unknown namespace, the message lists the known ones.
    init(_ error: DurableError, namespaces names: [String], _ subcommand: Subcommand) {
        guard case .noPolicy(let name) = error else {
            self.init(error, subcommand)
            return
        }
        let what =
            Option.wait.belongs(to: subcommand)
            ? "the namespace \(Terminal.shown(name)) does not exist yet: its first use must give the policy"
            : "there is no namespace \(Terminal.shown(name))"
        self = .usage("\(what); \(Self.list(of: names))", subcommand)
    }

    /// Returns a list that is short enough to read at a glance.
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
    /// Runs a transaction. The failure for an unknown namespace lists the known ones.
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

extension SQLiteReader {
    /// Runs a query. The failure for an unknown namespace lists the known ones.
    func query<Answer>(
        for subcommand: Subcommand, _ body: (inout SQLiteTransaction) throws(DurableError) -> Answer
    ) throws(Failure) -> Answer {
        do throws(DurableError) {
            return try read(body)
        } catch {
            let names = try? read { transaction throws(DurableError) in try transaction.names() }
            throw Failure(error, namespaces: names ?? [], subcommand)
        }
    }
}

extension CommandOptions {
    /// Opens the given store.
    func store(creates: Bool, for subcommand: Subcommand) throws(Failure) -> SQLiteFile {
        try StoreURL.open(givenStore(for: subcommand), creates: creates, subcommand)
    }

    /// Opens the given store for reading only, which needs no right to write and changes nothing.
    func readOnlyStore(for subcommand: Subcommand) throws(Failure) -> SQLiteReader {
        try StoreURL.openReadOnly(givenStore(for: subcommand), subcommand)
    }

    /// Returns the path of the given store if there is no such file.
    func missingStore(for subcommand: Subcommand) throws(Failure) -> String? {
        let path = try StoreURL.path(givenStore(for: subcommand), subcommand)
        return access(path, F_OK) == 0 ? nil : path
    }

    private func givenStore(for subcommand: Subcommand) throws(Failure) -> String {
        guard let store else { throw .usage("--store is missing: give it as sqlite:PATH", subcommand) }
        return store
    }

    // MARK: - Options that need a store or exclude one

    /// Throws if an option has no meaning with a store.
    func checkDurable(_ subcommand: Subcommand) throws(Failure) {
        if maxKeys != nil { throw .usage("--max-keys has no meaning with --store", subcommand) }
        if let whileRunning, whileRunning != .queue {
            throw .usage("--while-running must be queue with --store", subcommand)
        }
    }

    /// Throws if an option has a meaning only with a store: ignoring it would look as if it worked.
    func checkVolatile(_ subcommand: Subcommand) throws(Failure) {
        if let option = storeOptions.first { throw .usage("--\(option.name) needs --store", subcommand) }
        if atEnd == .keep { throw .usage("--at-end keep needs --store", subcommand) }
    }
}
