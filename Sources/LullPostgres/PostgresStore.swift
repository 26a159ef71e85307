internal import Lull
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
/// `lull schema --store URL --apply`, or ``PostgresSchema``, prepares the database. A submit can also be a statement of your own
/// transaction, in any language: `SELECT * FROM lull.submit('order-mails', '17', '{…}')`.
///
/// A store has up to six connections, made when they are first needed, and one thread, which waits for all of them. Concurrent
/// submits share a statement. A connection that breaks is made again, and what was under way is repeated without harm; a call
/// throws ``/LullDurable/DurableError/unknown(_:)`` only if the server stays away longer than the time limit.
public final class PostgresStore: DurableStore {
    /// What a store needs beside its URL.
    package struct Options: Sendable {
        package var limits = DurableLimits()
        package var timeLimit = Duration.seconds(30)
        package var listens = true
        /// The time in place of the server's, for tests.
        package var now: (@Sendable () -> CoreInstant)?
        /// The clock by which workers wait.
        package var clock = StoreClock.system

        package init() {}
    }

    /// What workers of this process were told.
    struct State: WakingState {
        var wakeSignal = WakeSignal()
        /// The runs that each worker was handed; none for a worker to which an answer may have been lost.
        var handed: [Int64: Set<Int64>] = [:]
        /// From where claims in a namespace go on, and when one last began at the beginning.
        var resume: [String: (from: Int64, fullAt: ContinuousClock.Instant)] = [:]
        /// The server's instant at the latest claim.
        var latestInstant: CoreInstant?
        /// Where forgetting goes on, and when it last did.
        var forgetting: (after: Int64, at: ContinuousClock.Instant) = (0, .now - .seconds(3600))
    }

    /// How often a claim looks at all rows that could be due: at others, not at those that have long been dealt with.
    static let fullClaimInterval = Duration.seconds(1)
    /// Rows that were committed late may be this far behind.
    static let claimMargin: Int64 = 100_000
    /// How long a worker waits at most: others may submit without notifying.
    static let pollInterval = Duration.seconds(1)
    /// How long opening a store takes at most.
    static let openingTime = Duration.seconds(5)
    /// How often a store that is used forgets a little, and the pause while there is more.
    static let forgetInterval = Duration.seconds(10)
    static let forgetPause = Duration.milliseconds(100)
    /// The most ends of each kind that are retained, whatever the retention.
    static let mostEnds: Int64 = 10_000_000

    let client: Client
    let schema: String
    let options: Options
    let state: Guarded<State>

    /// Opens a store.
    ///
    /// - Parameters:
    ///   - url: The database: `postgres://user:password@host:port/database`, and what else libpq takes there. `schema=NAME` names
    ///     another schema than `lull`. Several hosts, separated by commas, are tried in their order.
    ///   - limits: The size of a value, and how long ends and tokens are stored.
    ///   - timeLimit: How long a call waits for the server, at least a second.
    /// - Throws: ``/LullDurable/DurableError/unusable(_:)`` if the database has no schema of Lull, or another version, or refuses the
    ///   connection; ``/LullDurable/DurableError/refused(_:)`` if it cannot be reached.
    public convenience init(
        url: String, limits: DurableLimits = DurableLimits(), timeLimit: Duration = .seconds(30)
    ) async throws(DurableError) {
        var options = Options()
        options.limits = limits
        options.timeLimit = max(timeLimit, .seconds(1))
        try await self.init(url, options)
    }

    /// Opens a store with all options.
    package init(_ url: String, _ options: Options) async throws(DurableError) {
        let url = try ConnectionURL(url)
        let state = Guarded(State())
        self.state = state
        self.options = options
        schema = url.quotedSchema
        let now = options.now.map { now in { @Sendable in now().nanoseconds / 1000 } }
        client = try Client(url, now: now) { namespace in
            state.changeAndWake { state in
                if let namespace {
                    state.wakeSignal.signal(.farPast, in: namespace)
                    state.resume[namespace] = nil
                } else {
                    state.wakeSignal.signalAll()
                }
            }
        }
        // A wrong password or name should not take as long as a server that restarts.
        let rows = try await ask(
            Statement("SELECT \(schema).schema_version()"), in: "", isRepeatable: true,
            atMost: min(options.timeLimit, Self.openingTime))
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

    /// The instant in place of the server's, for tests.
    var now: Int64? { options.now.map { $0().nanoseconds / 1000 } }

    func ask(
        _ statement: Statement, in namespace: String, _ role: Client.Role = .questions, isRepeatable: Bool,
        atMost time: Duration? = nil
    ) async throws(DurableError) -> Rows {
        switch await client.call(statement, role, isRepeatable: isRepeatable, atMost: time ?? options.timeLimit) {
        case .rows(let rows): return rows
        case .error(let error): throw error.durable(in: namespace)
        case .unreached(let why): throw .refused("the database cannot be reached: \(why)")
        case .lost(let why): throw .unknown("the connection to the database was lost: \(why)")
        case .closed: throw .closed
        }
    }

    /// Text of PostgreSQL has no zero characters.
    func checkText(_ text: String?, _ what: String) throws(DurableError) {
        if text?.utf8.contains(0) == true {
            throw .refused("\(what) has a character that PostgreSQL cannot store: U+0000")
        }
    }

    /// Sums up counts, and forgets a little of what is old, if that is due. Callers do not wait for it, except in tests.
    func forgetSome(now isDue: Bool = false) async {
        let after = state.changeAndWake { state -> Int64? in
            guard isDue || options.now != nil || ContinuousClock.now - state.forgetting.at > Self.forgetInterval else {
                return nil
            }
            state.forgetting.at = .now
            return state.forgetting.after
        }
        guard let after else { return }
        var statement = statement("forget", 6, selecting: "next, has_more")
        statement.add(CoreDuration(options.limits.retention).microseconds)
        statement.add(CoreDuration(options.limits.tokenLifetime).microseconds)
        statement.add(Self.mostEnds)
        statement.add(after)
        statement.add(int: 1000)
        statement.add(now)
        let state = state
        let note = { @Sendable (answer: Client.Answer) in
            state.changeAndWake { state in
                switch answer {
                case .rows(let rows):
                    state.forgetting.after = rows.first?.bigint(0) ?? 0
                    if rows.first?.bool(1) == true {
                        state.forgetting.at = .now - Self.forgetInterval + Self.forgetPause
                    }
                // A producer has no right to it.
                case .error(let error) where error.code == "42501":
                    state.forgetting.at = .now + .seconds(86400)
                default: break
                }
            }
        }
        if options.now == nil {
            client.add(statement, .questions, isRepeatable: true, atMost: options.timeLimit, note)
        } else {
            note(await client.call(statement, .questions, isRepeatable: true, atMost: options.timeLimit))
        }
    }
}
