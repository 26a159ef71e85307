internal import LullDurable

/// What a store has found out about its server when it was opened.
struct Server: Sendable {
    /// The name and the version, as in `Redis 7.0.15`.
    let name: String
    let isCluster: Bool
    let durability: RedisStore.Durability

    /// Asks the server, and checks that it is one that will do.
    init(_ client: Client, _ wanted: RedisStore.Durability?, atMost time: Duration) async throws(DurableError) {
        let info = Self.fields(try await client.ask([.command(Command("INFO"))], atMost: time)[0].text ?? "")
        let valkey = info["valkey_version"]
        let version = valkey ?? info["redis_version"] ?? "0"
        name = (valkey == nil ? "Redis " : "Valkey ") + version
        isCluster = info["cluster_enabled"] == "1"
        guard let major = Int(version.prefix { $0 != "." }), major >= 7 else {
            throw .unusable("the server is \(name), and Lull needs Redis 7 or Valkey")
        }
        let settings: [String: String]
        do throws(DurableError) {
            let names = ["appendonly", "appendfsync", "no-appendfsync-on-rewrite", "maxmemory-policy"]
            let reply = try await client.ask([.command(Command(["CONFIG", "GET"] + names))], atMost: time)[0]
            let texts = (reply.list ?? []).map { $0.text ?? "" }
            settings = Dictionary(
                stride(from: 0, to: texts.count - 1, by: 2).map { (texts[$0], texts[$0 + 1]) }, uniquingKeysWith: { $1 }
            )
        } catch {
            if case .refused(let why) = error, why.hasPrefix("the server cannot be reached") { throw error }
            guard let wanted else {
                throw .unusable(
                    """
                    the server hides its settings (\(error)): name the durability that it is set up for, \
                    as durability=always in the URL
                    """)
            }
            durability = wanted
            return
        }
        durability = wanted ?? .everysec
        try Self.check(settings, for: durability)
        if case .replicas(let count) = durability {
            let connected = info["connected_slaves"].flatMap { Int($0) } ?? 0
            if connected < count {
                throw .unusable("the durability is replicas:\(count), but the server has \(connected) replicas now")
            }
        }
    }

    /// Checks that a server with these settings keeps what it acknowledges.
    static func check(_ settings: [String: String], for durability: RedisStore.Durability) throws(DurableError) {
        if let policy = settings["maxmemory-policy"], policy != "noeviction" {
            throw .unusable(
                """
                the server removes keys when its memory is full (maxmemory-policy \(policy)): pending work would be \
                lost; CONFIG SET maxmemory-policy noeviction
                """)
        }
        guard durability == .everysec || durability == .always else { return }
        guard settings["appendonly"] == "yes" else {
            throw .unusable(
                """
                the durability is \(durability), but the server has no append-only file: CONFIG SET appendonly yes, \
                or accept with durability=memory that all is lost when the server ends
                """)
        }
        guard settings["no-appendfsync-on-rewrite"] != "yes" else {
            throw .unusable(
                """
                the durability is \(durability), but the server does not sync while it rewrites its file: \
                CONFIG SET no-appendfsync-on-rewrite no
                """)
        }
        let sync = settings["appendfsync"] ?? ""
        if sync != "always", sync != "everysec" || durability == .always {
            throw .unusable(
                "the durability is \(durability), but the server has appendfsync \(sync): CONFIG SET appendfsync "
                    + "\(durability)"
            )
        }
    }

    /// The fields of an answer to INFO.
    static func fields(_ text: String) -> [String: String] {
        var fields: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { fields[String(parts[0])] = String(parts[1]) }
        }
        return fields
    }
}

extension RedisStore {
    /// What a Redis server does with a submit before it answers, and so what can be lost of what has been acknowledged.
    ///
    /// A store checks when it is opened that the server is set up for the durability that it was asked for.
    public enum Durability: Hashable, Sendable {
        /// Nothing: all that is pending is lost when the server ends.
        case memory
        /// The server writes its append-only file and syncs it every second. A crash of the machine, or a failure of
        /// its disk, loses what came since the last sync that was completed: usually a second or two, more on a slow
        /// disk.
        case everysec
        /// The server syncs its append-only file before it answers: what was acknowledged is not lost, as far as the
        /// disk keeps what it has synced.
        case always
        /// As the server's own setting, and this number of replicas have the submit in memory before it is
        /// acknowledged. If fewer have it in time, the submit throws ``/LullDurable/DurableError/unknown(_:)``. This
        /// does not sync a disk, and a failover to another replica can still lose it.
        case replicas(Int)
    }
}

extension RedisStore.Durability: CustomStringConvertible {
    /// The name, as in a URL: `memory`, `everysec`, `always` or `replicas:1`.
    public var description: String {
        switch self {
        case .memory: "memory"
        case .everysec: "everysec"
        case .always: "always"
        case .replicas(let count): "replicas:\(count)"
        }
    }

    /// Creates the durability with a name, as in a URL.
    init?(name: String) {
        switch name {
        case "memory": self = .memory
        case "everysec": self = .everysec
        case "always": self = .always
        default:
            guard name.hasPrefix("replicas:"), let count = Int(name.dropFirst(9)), 1...1000 ~= count else { return nil }
            self = .replicas(count)
        }
    }
}
