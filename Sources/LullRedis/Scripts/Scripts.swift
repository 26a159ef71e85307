/// The scripts: the only way in which anything changes in the database.
///
/// A script is one atomic step on one shard of a namespace. It reads all it needs, computes, and then writes what cannot fail any more.
enum Scripts {
    /// The version of the structures and of the scripts.
    static let version = 2

    /// The structures of a shard: the name of each is a prefix with the namespace and the shard in braces, and one of these.
    static let structures = [
        "meta", "rows", "values", "due", "held", "past", "ended", "answered", "dead", "keys", "ready",
    ]

    /// Returns the prefix of a shard's keys. All of a shard is in one slot of a cluster.
    static func prefix(_ namespace: String, _ shard: Int) -> String { "{lull:\(namespace):\(shard)}" }

    /// Returns the keys that a script needs.
    static func keys(_ namespace: String, _ shard: Int) -> [String] {
        structures.map { prefix(namespace, shard) + $0 }
    }

    /// The channel on which a submit tells workers that something is due within a second.
    static func channel(_ namespace: String) -> String { "lull:\(namespace)" }
}

/// A script, with the text that the server gets.
enum Script: String, CaseIterable, Sendable {
    case submit
    case change
    case work
    case dead
    case open
    case look
    case count
    case page
    case forget
    case drop
    case announce
    case workers

    /// The text. What workers need is allowed when the memory of the server is full: otherwise a full queue could not drain.
    var text: String {
        switch self {
        case .submit: Self.join(flags: "", Scripts.shard, Scripts.gate, Scripts.submit)
        case .change: Self.join(flags: " flags=allow-oom", Scripts.shard, Scripts.gate, Scripts.change)
        case .work: Self.join(flags: " flags=allow-oom", Scripts.shard, Scripts.gate, Scripts.deaths, Scripts.work)
        case .dead: Self.join(flags: " flags=allow-oom", Scripts.shard, Scripts.gate, Scripts.dead)
        case .open: Self.join(flags: "", Scripts.open)
        case .look: Self.join(flags: " flags=no-writes", Scripts.look)
        case .count: Self.join(flags: " flags=no-writes", Scripts.count)
        case .page: Self.join(flags: " flags=no-writes", Scripts.page)
        case .forget: Self.join(flags: " flags=allow-oom", Scripts.shard, Scripts.gate, Scripts.forget)
        case .announce: Self.join(flags: " flags=allow-oom", Scripts.announce)
        case .workers: Self.join(flags: " flags=no-writes", Scripts.workers)
        case .drop: Self.join(flags: " flags=allow-oom", Scripts.drop)
        }
    }

    private static func join(flags: String, _ parts: String...) -> String {
        "#!lua\(flags)\n" + parts.joined(separator: "\n\n") + "\n"
    }
}
