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
        guard text.hasPrefix(scheme), text.count > scheme.count else {
            throw .usage("--store must be \(scheme)PATH, not \"\(text)\"", subcommand)
        }
        var options = SQLiteFile.Options()
        options.creates = creates
        do throws(DurableError) {
            return try SQLiteFile(String(text.dropFirst(scheme.count)), options)
        } catch {
            throw Failure(error, subcommand)
        }
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
