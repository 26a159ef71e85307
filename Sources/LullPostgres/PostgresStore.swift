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
/// your own transaction, in any language: `SELECT lull.submit('order-mails', '17', '{…}')`.
///
/// A store has up to six connections, made when they are first needed, and one thread, which waits for all of them.
/// Concurrent submits share a statement. A connection that breaks is made again, and what was under way is repeated
/// without harm; a call throws ``/LullDurable/DurableError/unknown(_:)`` only if the server stays away longer than the
/// time limit.
public final class PostgresStore: DurableStore, ShardedStore {
    /// Where forgetting goes on, and the namespace that is next.
    package struct Known: Sendable {
        var forgottenTo: Int64 = 0
        var foldingTurn = 0
    }

    /// The most ends of each kind that are retained, whatever the retention.
    static let mostEnds: Int64 = 10_000_000

    let client: Client
    package var connections: any ServerConnections { client }
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
            ClientLoop(url, options) { notice in state.changeAndWake { $0.take(notice) } }
        }
        let functions = "pronamespace = '\(schema.quoting("'", with: "'"))'::regnamespace AND proname = 'describe'"
        let rows = try await ask(
            Statement(
                """
                SELECT \(schema).schema_version(), has_function_privilege(oid, 'execute') FROM pg_proc
                WHERE \(functions)
                """), atMost: options.openingTime)
        guard let row = rows.first, let version = row.int(0) else {
            throw .unusable("the database has an empty schema of Lull")
        }
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
        if !row.bool(1) {
            throw .unusable(
                """
                the role may only add calls to the inbox, by lull.submit and the other functions in SQL: \
                `SELECT lull.allow(role, 'worker')` gives it the rights of the library
                """)
        }
    }

    deinit { client.beginClosing() }

    // MARK: - Statements

    package func add(_ step: KeyStep) {
        if step.tokens.contains(where: { $0.utf8.contains(0) }) {
            return step.finish(Self.refusal(of: "the token"))
        }
        client.add(step)
    }

    package func add(_ exchange: ShardExchange) { client.add(exchange) }

    /// Begins a statement: `SELECT * FROM schema.function($1, …)`.
    func statement(_ function: String, _ count: Int, selecting columns: String = "*") -> Statement {
        Statement(calling: function, of: schema, count, selecting: columns)
    }

    /// Sends a statement that may be repeated without harm, unless it says otherwise.
    func ask(
        _ statement: Statement, in namespace: String = "", isRepeatable: Bool = true, atMost time: Duration? = nil
    ) async throws(DurableError) -> Rows {
        try Self.checkName(namespace)
        return try await client.call(
            Statements(statement), isRepeatable: isRepeatable, atMost: time ?? options.timeLimit
        ).get(in: namespace)
    }

    /// Text of PostgreSQL has no zero characters.
    static func checkName(_ namespace: String) throws(DurableError) {
        if namespace.utf8.contains(0) { throw refusal(of: "the name of the namespace") }
    }

    private static func refusal(of what: String) -> DurableError {
        .refused("\(what) has a character that PostgreSQL cannot store: U+0000")
    }
}

extension ServerState<PostgresStore.Known> {
    mutating func take(_ notice: ClientLoop.Notice) {
        switch notice {
        case .hint(let namespace): noteHint(namespace)
        case .written(let namespace, let wake, let isInterrupting):
            if let wake { wakeSignal.signal(wake, in: namespace) }
            if isInterrupting { wakeSignal.signalInterruption(in: namespace) }
        }
    }
}
