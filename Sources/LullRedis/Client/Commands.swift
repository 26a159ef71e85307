internal import LullDurable

/// Commands that are sent together, all in one slot of a cluster. All may be repeated without harm.
struct Commands: Sendable {
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

    var contents: [Content]
    var role = Role.calls
    /// The number of replicas for which it waits.
    var replicas: Int?
    /// Where the cluster has told to send it this once.
    var asked: RedisURL.Address?

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

/// The replies, and the number of replicas that have what was written, if the request waited for them.
struct Answered: Sendable {
    let replies: [Reply]
    let replicas: Int?

    /// Returns the replies, or throws if too few replicas have what was written.
    func replies(for wanted: Int?) throws(DurableError) -> [Reply] {
        if let wanted, let replicas, replicas < wanted {
            throw .unknown("only \(replicas) of \(wanted) replicas had it in time")
        }
        return replies
    }
}
