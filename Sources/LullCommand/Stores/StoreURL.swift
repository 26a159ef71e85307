internal import CLullCommand
internal import Lull
internal import LullCore
internal import LullDurable
internal import LullPostgres
internal import LullRedis
internal import LullSQLite

/// Where a store is: `sqlite:PATH`, `postgres://…` or `redis://…`.
enum StoreURL {
    case file(path: String)
    case postgres(url: String)
    case redis(url: String)

    /// The forms of a URL, for messages.
    static let forms = "sqlite:PATH, postgres://USER@HOST/DATABASE or redis://HOST/DATABASE"

    init(_ text: String, _ subcommand: Subcommand) throws(Failure) {
        let kinds: [(schemes: [String], kind: StoreURL)] = [
            (["postgres://", "postgresql://"], .postgres(url: text)),
            (["redis://", "rediss://", "redis+unix://"], .redis(url: text)),
        ]
        if let server = kinds.first(where: { $0.schemes.contains(where: text.hasPrefix) }) {
            self = server.kind
            return
        }
        let scheme = "sqlite:"
        let path = String(text.dropFirst(scheme.count))
        // A path may begin with slashes, but has no scheme of its own.
        guard text.hasPrefix(scheme), !path.isEmpty, !path.contains("://") || path.hasPrefix("file:") else {
            throw .usage("--store must be \(Self.forms), not \"\(ServerURL.withoutPassword(text))\"", subcommand)
        }
        // SQLite gives these names another meaning: a store that ends with the process, or parameters that are not
        // supported.
        if path == ":memory:" {
            throw .usage("--store \(text) would be lost with the process: name a file, as \(scheme)PATH", subcommand)
        }
        if path.hasPrefix("file:") {
            throw .usage(
                "--store takes a path, not a URI or its parameters: write \(scheme)PATH, not \"\(text)\"", subcommand)
        }
        self = .file(path: path)
    }

    private var isFile: Bool {
        if case .file = self { true } else { false }
    }

    /// The path of a file that does not exist.
    var missingFile: String? {
        if case .file(let path) = self, access(path, F_OK) != 0 { path } else { nil }
    }

    /// - Parameters:
    ///   - creates: Whether a missing file is created.
    ///   - isReadOnly: Whether a file is only read, which needs no right to write and changes nothing.
    ///   - patience: How long a call waits for the store; nil for the store's own time.
    func open(
        creates: Bool, isReadOnly: Bool = false, patience: CoreDuration?, _ subcommand: Subcommand
    ) throws(Failure) -> CommandStore {
        let url = self
        do throws(DurableError) {
            return try CommandStore(grace: isFile ? nil : .seconds(2)) {
                switch url {
                case .file(let path):
                    var options = Self.fileOptions(creates: creates, patience)
                    options.isReadOnly = isReadOnly
                    if subcommand == .serve { options.reopens = { Self.report($0, path) } }
                    return try await SQLiteStore(path, options)
                case .postgres(let url):
                    return try await PostgresStore(url, Self.serverOptions(DurableLimits(), patience))
                case .redis(let url):
                    return try await RedisStore(url, Self.serverOptions(RedisStore.defaultLimits, patience))
                }
            }
        } catch {
            throw failure(error, creates: creates, subcommand)
        }
    }

    /// Says that `lull serve` opens a file again, and when that has succeeded.
    private static func report(_ loss: DurableError?, _ path: String) {
        let success = "\(Terminal.shown(path)) is open again: values that only the earlier file had are not in it"
        OutputBuffer.report([loss.map { "\($0): opening it again" } ?? success])
    }

    /// Opens a file for what only files need.
    static func file(
        _ path: String, _ patience: CoreDuration?, _ subcommand: Subcommand
    ) throws(Failure) -> SQLiteFile {
        do throws(DurableError) {
            return try SQLiteFile(path, fileOptions(creates: false, patience))
        } catch {
            throw Self.file(path: path).failure(error, creates: false, subcommand)
        }
    }

    private static func fileOptions(creates: Bool, _ patience: CoreDuration?) -> SQLiteFile.Options {
        var options = SQLiteFile.Options()
        options.creates = creates
        if let patience { options.patience = Duration(patience) }
        // A value can be as long as a record.
        options.limits.largestValue = RecordReader.longest
        return options
    }

    private static func serverOptions(_ limits: DurableLimits, _ patience: CoreDuration?) -> ServerOptions {
        var options = ServerOptions(limits: limits)
        options.limits.largestValue = RecordReader.longest
        if let patience { options.timeLimit = max(Duration(patience), .seconds(1)) }
        return options
    }

    /// Returns the failure of a command that creates no store; if the file is missing, the message names the commands
    /// that do.
    private func failure(_ error: DurableError, creates: Bool, _ subcommand: Subcommand) -> Failure {
        guard !creates, case .file(let path) = self, access(path, F_OK) != 0, lull_errno() == ENOENT else {
            return Failure(opening: error, subcommand)
        }
        return .inputOutput("\(error): lull submit, run, filter or work creates it, with a policy such as --wait 5s")
    }
}

extension Failure {
    init(_ error: DurableError, _ subcommand: Subcommand) {
        switch error {
        case .otherPolicy, .noPolicy: self = .usage("\(error)", subcommand)
        case .hasWork(let status):
            self = .failed(
                """
                the namespace \(Terminal.shown(status.namespace)) stays, as it has \(status.workText): \
                lull \(status.dead > 0 ? "dead discard" : "cancel") drops that
                """)
        case .tooLarge, .keyTooLong, .contextTooLong, .tokenOfOtherKey, .unencodable, .undecodable:
            self = .badData("\(error)")
        case .refused, .full, .unknown: self.init(status: ExitStatus.inputOutput, message: "\(error)", mayPass: true)
        case .unusable, .closed: self = .inputOutput("\(error)")
        }
    }

    /// Creates the failure for a store that cannot be opened: nothing was to be recorded yet.
    init(opening error: DurableError, _ subcommand: Subcommand) {
        self.init(error.ofQuestion, subcommand)
        switch error {
        case .refused, .full: mayPass = true
        default: break
        }
    }

    /// A namespace that does not exist, with the ones that do if those are few enough to read at a glance.
    static func noNamespace(_ name: String, _ known: [String], _ subcommand: Subcommand) -> Failure {
        let what =
            Option.has(subcommand, "wait")
            ? "the namespace \(Terminal.shown(name)) does not exist yet: its first use must give the policy"
            : "there is no namespace \(Terminal.shown(name))"
        let others =
            switch known.count {
            case 0: "the store has none yet"
            case 1...8: "the store has " + known.map { Terminal.shown($0, upTo: 20) }.joined(separator: ", ")
            default: "the store has \(known.count), which lull status lists"
            }
        return .usage("\(what); \(others)", subcommand)
    }
}

extension CommandOptions {
    func storeURL(for subcommand: Subcommand) throws(Failure) -> StoreURL {
        guard let store else {
            throw .usage("--store is missing: give it as \(StoreURL.forms)", subcommand)
        }
        return try StoreURL(store, subcommand)
    }

    /// Opens the given store, for a command that creates none.
    func openStore(for subcommand: Subcommand, isReadOnly: Bool = false) throws(Failure) -> CommandStore {
        try storeURL(for: subcommand).open(creates: false, isReadOnly: isReadOnly, patience: patience, subcommand)
    }
}
