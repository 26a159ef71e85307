package import Lull
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
/// What was acknowledged is executed as far as the server keeps it: see ``RedisDurability``.
///
/// A store has two connections to each server that it uses, one more to listen, and one thread, which waits for all of
/// them. Concurrent submits share a script. A connection that breaks is made again, and what was under way is repeated
/// without harm; a call throws ``/LullDurable/DurableError/unknown(_:)`` only if the server stays away longer than the
/// time limit.
public final class RedisStore: DurableStore, ServerStore {
    /// What is known of namespaces, and where forgetting goes on.
    package struct Known: Sendable {
        /// The number of shards of each namespace.
        var shards: [String: Int] = [:]
        /// The rules with which namespaces were opened.
        var rules: [String: DurableRules] = [:]
        /// The namespaces that had a limit when they were last claimed from.
        var limited: Set<String> = []
        /// The shard of each namespace at which the next claim begins.
        var turns: [String: Int] = [:]
        /// The shard that forgets next.
        var forgettingTurn = 0
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
    package var connections: any ServerClient { client }
    package let options: ServerOptions
    let server: Server
    package let state: Guarded<ServerState<Known>>
    /// Into how many shards new namespaces are divided.
    let newShards: Int

    /// The durability of this store: the one that it was asked for, which the server was set up for when the store was
    /// opened.
    public var durability: RedisDurability { server.durability }

    /// Opens a store.
    ///
    /// - Parameters:
    ///   - url: The server: `redis://user:password@host:port/database`, `redis+unix:///path` for a socket, `rediss://`
    ///     for TLS. Several hosts, separated by commas, are tried in their order; of a cluster, any of its servers will
    ///     do.
    ///   - durability: What the server does with a submit before it answers; nil for what the URL names
    ///     (`?durability=always`), or else for ``RedisDurability/everysec``. A server that is set up for less is
    ///     refused; for one that hides its settings, what is named here counts.
    ///   - shards: Into how many parts a namespace is divided when it is first opened; nil for one, or 16 in a cluster.
    ///     A cluster keeps each in one of its servers.
    ///   - limits: The size of a value, and how long outcomes and tokens are stored.
    ///   - timeLimit: How long a call waits for the server, at least a second.
    /// - Throws: ``/LullDurable/DurableError/unusable(_:)`` if the server is older than version 7, is not set up for
    ///   the durability, removes keys when its memory is full, or refuses the connection;
    ///   ``/LullDurable/DurableError/refused(_:)`` if it cannot be reached.
    public convenience init(
        url: String, durability: RedisDurability? = nil, shards: Int? = nil,
        limits: DurableLimits = RedisStore.defaultLimits, timeLimit: Duration = .seconds(30)
    ) async throws(DurableError) {
        try await self.init(
            url, ServerOptions(limits: limits, timeLimit: timeLimit), durability: durability, shards: shards)
    }

    /// Opens a store with all options.
    package init(
        _ text: String, _ options: ServerOptions, durability: RedisDurability? = nil, shards: Int? = nil
    ) async throws(DurableError) {
        let url = try RedisURL(text)
        if let shards, !(1...1024 ~= shards) {
            throw .unusable("a namespace has 1 to 1,024 shards, not \(shards)")
        }
        let state = Guarded(ServerState(Known()))
        self.state = state
        self.options = options
        let client = try Client(url, options) { namespace in
            state.changeAndWake { $0.noteHint(namespace) }
        }
        self.client = client
        do {
            server = try await Server(client, durability ?? url.durability, atMost: options.openingTime)
        } catch {
            client.beginClosing()
            throw error
        }
        newShards = shards ?? (server.isCluster ? Self.shardsInCluster : 1)
        if case .replicas(let count) = server.durability { client.waitForReplicas(count) }
    }

    deinit { client.beginClosing() }

    // MARK: - Calls

    /// Runs a script on a shard. Its first argument is the instant.
    func run(
        _ script: Script, in namespace: String, _ shard: Int, isRepeatable: Bool = true,
        _ arguments: Command = Command([])
    ) async throws(DurableError) -> Reply {
        var all = Command([])
        all.add(options.microseconds)
        all.add(arguments)
        var replicas: Int?
        if case .replicas(let count) = durability, Script.awaited.contains(script) { replicas = count }
        let content = Job.Content.script(script, namespace: namespace, shard: shard, arguments: all)
        let ask = { () async throws(DurableError) -> Reply in
            try await self.client.ask(
                content, in: namespace, isRepeatable: isRepeatable, replicas: replicas, atMost: self.options.timeLimit)
        }
        do throws(DurableError) { return try await ask() } catch {
            guard case .noPolicy = error, try await reopen(namespace) else { throw error }
            return try await ask()
        }
    }

    /// Sends a command as it is; its first argument is its key.
    func ask(_ command: Command, in namespace: String = "") async throws(DurableError) -> Reply {
        try await client.ask(.command(command), in: namespace, isRepeatable: true, atMost: options.timeLimit)
    }

    // MARK: - Shards

    /// Returns the number of shards of a namespace.
    func shards(of namespace: String) async throws(DurableError) -> Int {
        if let shards = state.change({ $0.known.shards[namespace] }) { return shards }
        let shards = try await look(at: namespace, 0).shards
        state.change { $0.known.shards[namespace] = shards }
        return shards
    }

    /// Returns the shard of a key.
    func shard(of key: [UInt8], in namespace: String) async throws(DurableError) -> Int {
        Shard.of(key, among: try await shards(of: namespace))
    }

    // MARK: - Forgetting

    /// Forgets a little of what is old, in one shard after the other.
    package func forgetStep(_ done: @escaping @Sendable (Forgotten) -> Void) {
        let place = state.change { state -> (String, Int)? in
            let places = state.known.shards.flatMap { name, count in (0..<count).map { (name, $0) } }
                .sorted { ($0.0, $0.1) < ($1.0, $1.1) }
            guard !places.isEmpty else { return nil }
            state.known.forgettingTurn = (state.known.forgettingTurn + 1) % places.count
            return places[state.known.forgettingTurn]
        }
        guard let (namespace, shard) = place else { return done(.all) }
        var arguments = Command([])
        arguments.add(options.microseconds)
        arguments.add(CoreDuration(options.limits.retention).stored)
        arguments.add(CoreDuration(options.limits.tokenLifetime).stored)
        arguments.add("\(Self.mostEnds)")
        arguments.add("1000")
        let content = Job.Content.script(.forget, namespace: namespace, shard: shard, arguments: arguments)
        client.add(content, atMost: options.timeLimit) { answer in
            if case .reply(let answered) = answer, answered.reply.number ?? 0 >= 1000 { return done(.some) }
            done(.all)
        }
    }
}
