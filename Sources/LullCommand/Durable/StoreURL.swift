internal import CLullSystem
internal import LullCore
internal import LullDurable
internal import LullSQLite

/// Where pending work is kept: `sqlite:PATH`.
enum StoreURL {
    private static let scheme = "sqlite:"

    /// Opens a store.
    ///
    /// - Parameter creates: Whether a file that is not there is made.
    static func open(_ text: String, creates: Bool, _ subcommand: Subcommand) throws(Failure) -> SQLiteFile {
        var options = SQLiteFile.Options()
        options.creates = creates
        let path = try path(text, subcommand)
        do throws(DurableError) {
            return try SQLiteFile(path, options)
        } catch {
            throw Failure(error, subcommand)
        }
    }

    /// A store to look at.
    static func look(at text: String, _ subcommand: Subcommand) throws(Failure) -> SQLiteReader {
        let path = try path(text, subcommand)
        do throws(DurableError) {
            return try SQLiteReader(path)
        } catch {
            throw Failure(error, subcommand)
        }
    }

    private static func path(_ text: String, _ subcommand: Subcommand) throws(Failure) -> String {
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
}

extension Settings {
    /// The store that the options name.
    func store(creates: Bool, for subcommand: Subcommand) throws(Failure) -> SQLiteFile {
        guard let store else { throw .usage("--store is missing: say where, as sqlite:PATH", subcommand) }
        return try StoreURL.open(store, creates: creates, subcommand)
    }

    /// The store that the options name, to look at: for what changes nothing, and needs no right to write.
    func storeToLookAt(for subcommand: Subcommand) throws(Failure) -> SQLiteReader {
        guard let store else { throw .usage("--store is missing: say where, as sqlite:PATH", subcommand) }
        return try StoreURL.look(at: store, subcommand)
    }

    /// The rules of the namespace, as far as the options give them.
    ///
    /// - Returns: Nil if they say nothing of a policy: what the store has holds.
    func rules(for subcommand: Subcommand) throws(Failure) -> DurableRules? {
        guard wait != nil || throttle != nil else {
            if maxWait != nil || maxCount != nil || edges != nil || delayRule != nil || combination != nil
                || maxBatch != nil
            {
                throw .usage("a policy begins with --wait or --throttle", subcommand)
            }
            return nil
        }
        try checkCombination(for: subcommand)
        let policy = try policy(for: subcommand)
        do {
            return try DurableRules(policy, combination: combination ?? .latest, maxBatch: maxBatch)
        } catch {
            throw .usage("\(error)", subcommand)
        }
    }
}
