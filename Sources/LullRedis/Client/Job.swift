internal import LullDurable

/// Commands that are sent together, and their caller.
struct Job {
    typealias Instant = ContinuousClock.Instant

    /// What is sent.
    enum Content: Sendable {
        /// A command as it is.
        case command(Command)
        /// A script, on a shard of a namespace.
        case script(Script, ShardPlace, Command)
    }

    /// The connection to a server over which it is sent, so that one kind of call does not wait for another.
    enum Role: Sendable {
        case steps
        case calls
    }

    /// The replies, and the number of replicas that have what was written, if the job waited for them.
    struct Answered: Sendable {
        let replies: [Reply]
        let replicas: Int?
    }

    typealias Answer = ServerAnswer<Answered, ServerError>

    /// One after the other, all in one slot of a cluster. All may be repeated without harm.
    var contents: [Content]
    var role: Role
    var deadline: Instant
    /// The number of replicas for which it waits.
    var replicas: Int?
    /// Whether it may have been executed.
    var wasSent = false
    /// Where the cluster has told to send it this once.
    var asked: RedisURL.Address?
    var answer: (Answer) -> Void

    /// A key of the slot in which it is done; nil if any server will do.
    var slotKey: String? {
        switch contents.first {
        case .script(_, let place, _)?: Scripts.prefix(place.namespace, place.shard)
        // All commands that are sent as they are have their key in the first place, or none.
        case .command(let command)?: command.firstArgument.map { String(decoding: $0, as: UTF8.self) }
        case nil: nil
        }
    }
}

/// What an error of a server means for the job that it answers.
enum Cure {
    /// Send it to the server that has the slot.
    case moved(slot: Int, host: String, port: Int)
    /// Send it once to the server to which the slot is being moved.
    case ask(host: String, port: Int)
    /// Send it again after a pause: nothing was done.
    case later
    /// Connect again: the server is a replica now.
    case reconnect
    /// Load the scripts again.
    case load
    /// Answer the caller.
    case none

    init(_ error: String) {
        let words = error.split(separator: " ")
        switch words.first {
        case "MOVED" where words.count >= 3, "ASK" where words.count >= 3:
            guard let slot = Int(words[1]), let colon = words[2].lastIndex(of: ":"),
                let port = Int(words[2][words[2].index(after: colon)...])
            else {
                self = .none
                return
            }
            let host = String(words[2][..<colon])
            self = words[0] == "MOVED" ? .moved(slot: slot, host: host, port: port) : .ask(host: host, port: port)
        case "TRYAGAIN", "CLUSTERDOWN", "LOADING", "BUSY", "MASTERDOWN": self = .later
        case "READONLY": self = .reconnect
        case "NOSCRIPT": self = .load
        default: self = .none
        }
    }
}
