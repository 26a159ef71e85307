internal import LullDurable

extension ServerError {
    /// - Parameter text: The reply, of which the first word says what kind of error it is.
    init(_ text: String) { self.init(code: String(text.prefix { $0 != " " }), message: text) }

    /// Where a cluster says that a slot is: `MOVED 1234 10.0.0.1:6379`.
    var place: (slot: Int, host: String, port: Int)? {
        let words = message.split(separator: " ")
        guard code == "MOVED" || code == "ASK", words.count >= 3, let slot = Int(words[1]),
            let colon = words[2].lastIndex(of: ":"), let port = Int(words[2][words[2].index(after: colon)...])
        else { return nil }
        return (slot, String(words[2][..<colon]), port)
    }

    /// Why a namespace cannot be used whose structures have another version.
    static func otherVersion(_ version: Int64, of namespace: String) -> String {
        if version > Scripts.version { return "the namespace \(namespace) was made by a newer version of Lull" }
        return """
            the namespace \(namespace) was made by an older version of Lull: let that version finish what it holds, \
            and then delete its keys, which begin with {lull:\(namespace):
            """
    }
}

extension Connection {
    static func cure(of error: ServerError) -> ServerCure {
        switch error.code {
        case "MOVED", "ASK": error.place == nil ? .none : .again
        case "NOSCRIPT", "TRYAGAIN", "CLUSTERDOWN", "LOADING", "BUSY", "MASTERDOWN": .again
        // It is a replica now.
        case "READONLY": .reconnect
        default: .none
        }
    }

    static func error(_ error: ServerError, in namespace: String) -> DurableError {
        switch error.code {
        case "NOPOLICY": .noPolicy(namespace: namespace)
        case "SHARDS":
            .unusable(
                """
                the namespace \(namespace) was created with \(error.message.dropFirst(7)) shards, and a maxRunning \
                needs one of a single shard: open it under another name, or forget it first
                """)
        case "VERSION": .unusable(ServerError.otherVersion(Int64(error.message.dropFirst(8)) ?? 0, of: namespace))
        case "WRONGPASS", "NOAUTH", "NOPERM": .unusable("the server says: \(error.message)")
        case "WRONGTYPE": .unusable("the keys of Lull in the database hold something else: \(error.message)")
        case "OOM": .full("the memory of the server is full (maxmemory)")
        case "MISCONF", "NOREPLICAS", "EXECABORT": .refused("the server says: \(error.message)")
        // A script that ends with an error of its own has written nothing; a fault in one is another matter.
        case _ where error.message.contains("user_script"): .unknown("the server says: \(error.message)")
        default: .refused("the server says: \(error.message)")
        }
    }
}
