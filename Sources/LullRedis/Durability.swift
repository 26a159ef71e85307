/// What a Redis server does with a submit before it answers, and so what can be lost of what has been acknowledged.
///
/// A store checks when it is opened that the server is set up for the durability that it was asked for.
public enum RedisDurability: Hashable, Sendable {
    /// Nothing: all that is pending is lost when the server ends.
    case memory
    /// The server writes its append-only file and syncs it every second. A crash of the machine, or a failure of its disk, loses what
    /// came since the last sync that was completed: usually a second or two, more on a slow disk.
    case everysec
    /// The server syncs its append-only file before it answers: what was acknowledged is not lost, as far as the disk keeps what it
    /// has synced.
    case always
    /// As the server's own setting, and this number of replicas have the submit in memory before it is acknowledged. If fewer have
    /// it in time, the submit throws ``/LullDurable/DurableError/unknown(_:)``. This is no sync of a disk, and a failover to another
    /// replica can still lose it.
    case replicas(Int)
}

extension RedisDurability: CustomStringConvertible {
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
