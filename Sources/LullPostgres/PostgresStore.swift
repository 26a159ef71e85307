package import Lull
internal import LullCore
public import LullDurable

/// A store in a PostgreSQL database: any number of processes, on any number of machines, share the pending work in it.
///
/// ```swift
/// let store = try await PostgresStore(url: "postgres://app@db.example.com/shop")
/// let mails = try await DurableDebouncer<Int, Order>(for: .seconds(600), namespace: "order-mails", in: store)
/// try await mails.submit(order, for: order.id)
/// ```
///
/// `lull schema --store URL --apply`, or ``PostgresSchema``, prepares the database. A submit can also be a statement of
/// your own transaction, in any language: `SELECT * FROM lull.submit('order-mails', '17', '{…}')`.
///
/// A store has up to six connections, made when they are first needed, and one thread, which waits for all of them.
/// Concurrent submits share a statement. A connection that breaks is made again, and what was under way is repeated
/// without harm; a call throws ``/LullDurable/DurableError/unknown(_:)`` only if the server stays away longer than the
/// time limit.
public final class PostgresStore: DurableStore, FunctionStore {
    /// What workers of this process were told, and where forgetting goes on.
    package struct Known: Sendable {
        /// The runs that each worker was handed; none for a worker to which an answer may have been lost.
        var handed: [Int64: Set<Int64>] = [:]
        /// From where claims in a namespace go on, and when one last began at the beginning.
        var resume: [String: (from: Int64, fullAt: ContinuousClock.Instant)] = [:]
        /// The namespaces from whose limit a claim takes starts before: those that had one, and none on running runs,
        /// when they were last claimed from.
        var limited: Set<String> = []
        var forgottenTo: Int64 = 0
    }

    /// How often a claim looks at all rows that could be due: at others, not at those that have long been dealt with.
    static let fullClaimInterval = Duration.seconds(1)
    /// Rows that were committed late may be this far behind.
    static let claimMargin: Int64 = 100_000
    /// The most ends of each kind that are retained, whatever the retention.
    static let mostEnds: Int64 = 10_000_000

    let client: Client
    package var connections: any ServerConnections { client }
    package func add(_ entry: SubmitQueue.Entry) -> Bool { client.add { $0.add(entry) } }
    let schema: String
    package let options: ServerOptions
    package let state: Guarded<ServerState<Known>>

    /// Opens a store.
    ///
    /// - Parameters:
    ///   - url: The database: `postgres://user:password@host:port/database`, and what else libpq takes there.
    ///     `schema=NAME` names another schema than `lull`. Several hosts, separated by commas, are tried in their
    ///     order.
    ///   - limits: The size of a value, and how long outcomes and tokens are stored.
    ///   - timeLimit: How long a call waits for the server, at least a second.
    /// - Throws: ``/LullDurable/DurableError/unusable(_:)`` if the database has no schema of Lull, or another version,
    ///   or refuses the connection; ``/LullDurable/DurableError/refused(_:)`` if it cannot be reached.
    public convenience init(
        url: String, limits: DurableLimits = DurableLimits(), timeLimit: Duration = .seconds(30)
    ) async throws(DurableError) {
        try await self.init(url, ServerOptions(limits: limits, timeLimit: timeLimit))
    }

    /// Opens a store with all options.
    package init(_ url: String, _ options: ServerOptions) async throws(DurableError) {
        let url = try ConnectionURL(url)
        let state = Guarded(ServerState(Known()))
        self.state = state
        self.options = options
        schema = url.quotedSchema
        client = try Client("lull-postgres") {
            ClientLoop(url, options) { namespace in
                state.changeAndWake { state in
                    state.noteHint(namespace)
                    if let namespace { state.known.resume[namespace] = nil }
                }
            }
        }
        let rows = try await ask(
            Statement("SELECT \(schema).schema_version()"), in: "", isRepeatable: true, atMost: options.openingTime)
        guard let version = rows.first?.int(0) else { throw .unusable("the database has an empty schema of Lull") }
        if version > Schema.version {
            throw .unusable(
                "the schema of the database has version \(version), and was made by a newer version of Lull")
        }
        if version < Schema.version {
            throw .unusable(
                """
                the schema of the database has version \(version), this program needs \(Schema.version): \
                `lull schema --store URL --apply` migrates it
                """)
        }
    }

    deinit { client.beginClosing() }

    // MARK: - Statements

    /// Begins a statement: `SELECT * FROM schema.function($1, …)`.
    func statement(_ function: String, _ count: Int, selecting columns: String = "*") -> Statement {
        let parameters = (1...count).map { "$\($0)" }.joined(separator: ", ")
        return Statement("SELECT \(columns) FROM \(schema).\(function)(\(parameters))")
    }

    func ask(
        _ statement: Statement, in namespace: String, _ role: Statement.Role = .questions, isRepeatable: Bool,
        atMost time: Duration? = nil
    ) async throws(DurableError) -> Rows {
        var statement = statement
        statement.role = role
        return try await client.call(statement, isRepeatable: isRepeatable, atMost: time ?? options.timeLimit)
            .get(in: namespace)
    }

    /// Text of PostgreSQL has no zero characters.
    func checkText(_ text: String?, _ what: String) throws(DurableError) {
        if text?.utf8.contains(0) == true {
            throw .refused("\(what) has a character that PostgreSQL cannot store: U+0000")
        }
    }

    /// Sums up counts, and forgets a little of what is old.
    package func forgetStep(_ done: @escaping @Sendable (Forgotten) -> Void) {
        var statement = statement("forget", 6, selecting: "next, has_more")
        statement.add(CoreDuration(options.limits.retention).microseconds)
        statement.add(CoreDuration(options.limits.tokenLifetime).microseconds)
        statement.add(Self.mostEnds)
        statement.add(state.change { $0.known.forgottenTo })
        statement.add(int: 1000)
        statement.add(options.microseconds)
        client.call(statement, atMost: options.timeLimit) { [state] answer in
            switch answer {
            case .reply(let rows):
                state.change { $0.known.forgottenTo = rows.first?.bigint(0) ?? 0 }
                done(rows.first?.bool(1) == true ? .some : .all)
            // A producer has no right to it.
            case .error(let error) where error.code == "42501": done(.refused)
            case .error, .unreached, .lost, .closed: done(.all)
            }
        }
    }
}
