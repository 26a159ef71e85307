internal import CLullRedis

/// The scripts: the only way in which anything changes in the database.
///
/// A script is one atomic step on one shard of a namespace. It reads all it needs, computes, and then writes what
/// cannot fail any more.
enum Scripts {
    /// The version of the structures and of the scripts.
    static let version = 4

    /// The structures of a shard: the name of each is a prefix with the namespace and the shard in braces, and one of
    /// these.
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

/// A script: some of the files in `CLullRedis/Scripts`, one after the other.
enum Script: String, CaseIterable, Sendable {
    case submit
    case change
    case work
    case interruptions
    case dead
    case open
    case look
    case count
    case page
    case forget
    case drop
    case announce
    case workers
    case pause
    case starts

    /// Those that wait for replicas, if the durability says so; submits wait by themselves.
    static let awaited: [Script] = [.change, .dead, .drop, .pause]

    /// The files before the one that has its name.
    private var parts: [String] {
        switch self {
        case .submit, .change, .interruptions: ["meta", "shard", "gate", "rows", "submits"]
        case .work, .dead: ["meta", "shard", "gate", "rows", "submits", "runs"]
        case .forget: ["meta", "shard", "gate", "rows"]
        case .look, .count, .announce, .workers, .pause, .starts: ["meta"]
        case .open, .page, .drop: []
        }
    }

    /// What the server is told of it. What workers need is allowed when its memory is full: otherwise a full queue
    /// could not drain.
    private var flags: String {
        switch self {
        case .change, .work, .dead, .forget, .drop, .announce, .pause, .starts: " flags=allow-oom"
        case .look, .count, .page, .workers, .interruptions: " flags=no-writes"
        case .submit, .open: ""
        }
    }

    /// The text that the server gets.
    var text: String {
        let files = (parts + [rawValue]).map { name in
            guard let text = lull_script(name) else { preconditionFailure("there is no file \(name).lua") }
            return String(cString: text)
        }
        return "#!lua\(flags)\nlocal VERSION = '\(Scripts.version)'\n" + files.joined(separator: "\n")
    }
}
