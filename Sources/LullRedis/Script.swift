internal import CLullRedis
internal import LullDurable

/// The structures and the scripts.
enum Scripts {
    /// The version of the structures and of the scripts.
    static let version = 1

    /// The structures of a shard: the name of each is a prefix with the namespace and the shard in braces, and one of
    /// these.
    static let structures = Structure.allCases.map { "\($0)" }

    /// Returns the prefix of a shard's keys. All of a shard is in one slot of a cluster.
    static func prefix(_ namespace: String, _ shard: Int) -> String { "{lull:\(namespace):\(shard)}" }

    /// The channel on which workers are told that something is due within a second.
    static func channel(_ namespace: String) -> String { "lull:\(namespace)" }

    /// The member of each structure that keeps it from disappearing; it is no key.
    static let sentinel: [UInt8] = [0xFF] + Array("lull".utf8)
}

/// A structure of a shard, in the order in which scripts know them.
enum Structure: Int, CaseIterable, Sendable {
    /// A hash: the settings of the namespace, and counts.
    case meta
    /// A hash: rows by their keys.
    case rows
    /// A hash: values, each by its number and its key.
    case values
    /// A sorted set: keys by the instants at which they wake.
    case due
    /// A sorted set: the workers that have runs, each with the key, in the order of their bytes.
    case held
    /// A sorted set: all keys in the order of their bytes.
    case keys
    /// A sorted set: keys with a value that is ready, by when it fell due.
    case ready
    /// A sorted set: how submits have ended, in the order of keys and numbers.
    case ends
    /// A sorted set: the same by when they ended.
    case ended
    /// A hash: the answers to tokens and to batches, and dead runs.
    case past
    /// A sorted set: the answers by age.
    case aged
    /// A sorted set: the numbers of dead runs by when they died.
    case dead
    /// A sorted set: calls of producers in other languages, in the order of keys and numbers.
    case inbox

    /// Whether it is a hash.
    var isHash: Bool { [.meta, .rows, .values, .past].contains(self) }

    /// The number by which scripts know it.
    var number: String { "\(rawValue + 1)" }
}

extension ShardPlace {
    /// The name of a structure.
    func key(_ structure: Structure) -> String {
        Scripts.prefix(namespace, shard) + Scripts.structures[structure.rawValue]
    }

    /// The names of all structures, as scripts get them.
    var keys: [String] {
        let prefix = Scripts.prefix(namespace, shard)
        return Scripts.structures.map { prefix + $0 }
    }
}

/// A script: files in `CLullRedis/Scripts`.
enum Script: String, CaseIterable, Sendable {
    case load
    case store
    /// The same, for workers.
    case work
    case page
    case inbox
    /// The interface for other languages.
    case append

    /// What the server is told of it. What workers need is allowed when its memory is full: otherwise a full queue
    /// could not drain.
    private var flags: String {
        switch self {
        case .load, .work: " flags=allow-oom"
        case .page, .inbox: " flags=no-writes"
        case .store, .append: ""
        }
    }

    private var files: [String] {
        switch self {
        case .append: ["append"]
        case .work: ["shard", "store"]
        default: ["shard", rawValue]
        }
    }

    /// The text that the server gets.
    var text: String {
        let texts = files.map { name in
            guard let text = lull_script(name) else { preconditionFailure("there is no file \(name).lua") }
            return String(cString: text)
        }
        return "#!lua\(flags)\nlocal VERSION = '\(Scripts.version)'\n" + texts.joined(separator: "\n")
    }
}
