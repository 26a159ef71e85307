internal import Lull
internal import LullCore
public import LullDurable

/// A store in Redis or Valkey: any number of processes, on any number of machines, share the pending work in it.
///
/// ```swift
/// let store = try await RedisStore(url: "redis://localhost", durability: .everysec)
/// let mails = try await DurableDebouncer<Int, Order>(for: .seconds(600), namespace: "order-mails", in: store)
/// try await mails.submit(order, for: order.id)
/// ```
///
/// What was acknowledged is executed as far as the server keeps it: see ``RedisStore/Durability``.
///
/// A store has two connections to each server that it uses, one more to listen, and one thread, which waits for all of
/// them. Concurrent submits share scripts. A connection that breaks is made again, and what was under way is repeated
/// without harm; a call throws ``/LullDurable/DurableError/unknown(_:)`` only if the server stays away longer than the
/// time limit.
public final class RedisStore: DurableStore, ShardedStore {
    /// What is known of shards, and where forgetting goes on.
    package struct Known: Sendable {
        /// The number of shards of each namespace.
        var shards: [String: Int] = [:]
        /// The shard that forgets next, and how many old ends of each were kept, since their runs may still die.
        var forgettingTurn = 0
        var kept: [ShardPlace: Int] = [:]
        /// The shards of which the server's clock was behind what was stored, by how much, and whether their rows are
        /// being moved.
        var behind: [ShardPlace: CoreDuration] = [:]
        var moving: Set<ShardPlace> = []
    }

    /// The limits of a store by default: outcomes are remembered for ten minutes and answers to tokens for an hour,
    /// since all of it is in the memory of the server.
    public static var defaultLimits: DurableLimits {
        DurableLimits(retention: .seconds(600), tokenLifetime: .seconds(3600))
    }

    /// The most keys of a shard whose ends are retained, and the most answers, whatever their age.
    static let mostEnds = 1_000_000
    /// The shards of a namespace in a cluster, if the store does not say: small ones move fast.
    static let shardsInCluster = 16

    let client: Client
    package var connections: any ServerConnections { client }
    package let options: ServerOptions
    let server: Server
    package let state: Guarded<ServerState<Known>>
    /// Into how many shards new namespaces are divided.
    let newShards: Int

    /// The durability of this store: the one that it was asked for, which the server was set up for when the store was
    /// opened.
    public var durability: RedisStore.Durability { server.durability }

    /// Opens a store.
    ///
    /// - Parameters:
    ///   - url: The server: `redis://user:password@host:port/database`, `redis+unix:///path` for a socket, `rediss://`
    ///     for TLS. Several hosts, separated by commas, are tried in their order; of a cluster, any of its servers will
    ///     do.
    ///   - durability: What the server does with a submit before it answers; nil for what the URL names
    ///     (`?durability=always`), or else for ``RedisStore/Durability/everysec``. A server that is set up for less is
    ///     refused; for one that hides its settings, what is named here counts.
    ///   - shards: Into how many parts a namespace is divided when it is first opened; nil for one, or 16 in a cluster.
    ///     A cluster keeps each in one of its servers.
    ///   - limits: The size of a value, and how long outcomes and tokens are stored.
    ///   - timeLimit: How long a call waits for the server, at least a second.
    /// - Throws: ``/LullDurable/DurableError/unusable(_:)`` if the server is older than version 7, is not set up for
    ///   the durability, removes keys when its memory is full, or refuses the connection;
    ///   ``/LullDurable/DurableError/refused(_:)`` if it cannot be reached.
    public convenience init(
        url: String, durability: RedisStore.Durability? = nil, shards: Int? = nil,
        limits: DurableLimits = RedisStore.defaultLimits, timeLimit: Duration = .seconds(30)
    ) async throws(DurableError) {
        try await self.init(
            url, ServerOptions(limits: limits, timeLimit: timeLimit), durability: durability, shards: shards)
    }

    /// Opens a store with all options.
    package init(
        _ text: String, _ options: ServerOptions, durability: RedisStore.Durability? = nil, shards: Int? = nil
    ) async throws(DurableError) {
        let url = try RedisURL(text)
        if let shards, !(1...1024 ~= shards) {
            throw .unusable("a namespace has 1 to 1,024 shards, not \(shards)")
        }
        let state = Guarded(ServerState(Known()))
        self.state = state
        self.options = options
        try loadLibrary(withTLS: url.usesTLS)
        let client = try Client("lull-redis") {
            ClientLoop(url, options) { notice in state.changeAndWake { $0.take(notice) } }
        }
        self.client = client
        do {
            server = try await Server(client, durability ?? url.durability, atMost: options.openingTime)
        } catch {
            client.beginClosing()
            throw error
        }
        newShards = shards ?? (server.isCluster ? Self.shardsInCluster : 1)
        if case .replicas(let count) = server.durability { _ = client.add { $0.wantedReplicas = count } }
    }

    deinit { client.beginClosing() }

    // MARK: - Calls

    package func add(_ step: KeyStep) { client.add(step) }
    package func add(_ exchange: ShardExchange) { client.add(exchange) }

    /// Sends a command that changes nothing; its first argument is its key.
    func ask(_ command: Command, in namespace: String = "") async throws(DurableError) -> Reply {
        try await ask([.command(command)], in: namespace)[0]
    }

    /// Sends commands and scripts that change nothing, or nothing of which it matters how often.
    func ask(_ contents: [Commands.Content], in namespace: String = "") async throws(DurableError) -> [Reply] {
        try await client.ask(contents, in: namespace, atMost: options.timeLimit)
    }

    // MARK: - Shards

    package func shards(of namespace: String) async throws(DurableError) -> Int {
        if let shards = state.change({ $0.known.shards[namespace] }) { return shards }
        let shards = try await record(of: ShardPlace(namespace, 0)).shards
        state.change { $0.known.shards[namespace] = shards }
        return shards
    }

    package func shard(of key: [UInt8], among shards: Int) -> Int { Shard.of(key, among: shards) }
}

extension ServerState<RedisStore.Known> {
    mutating func take(_ notice: ClientLoop.Notice) {
        switch notice {
        case .hint(let namespace): noteHint(namespace)
        case .written(let namespace, let wake, let isInterrupting):
            if let wake { wakeSignal.signal(wake, in: namespace) }
            if isInterrupting { wakeSignal.signalInterruption(in: namespace) }
        case .isBehind(let place, let span):
            if known.behind[place] == nil { forgetSoon() }
            known.behind[place] = span
        }
    }
}
