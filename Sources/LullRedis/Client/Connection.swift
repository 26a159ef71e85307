internal import CLullRedis
internal import LullDurable

/// A connection of hiredis. All that is to be sent is sent at once.
///
/// Before anything else it says who it is, and loads the scripts.
final class Connection: ServerWire {
    typealias Host = RedisURL.Address
    typealias Request = Commands
    typealias Response = Answered

    static let window = Int.max

    private let handle: OpaquePointer
    private let address: RedisURL.Address
    private let url: RedisURL
    /// Whether it is for hints alone.
    private let listens: Bool
    private var isConnected = false
    /// What has been asked before any request, and not been answered.
    private var preparation: [Preparation] = []
    /// The ranges of slots of a cluster; none without one.
    private(set) var slots: [Reply] = []
    private var hashes: [Script: String] = [:]
    private var sent: [Sent] = []

    /// A request that has been sent.
    private struct Sent {
        var request: Commands
        /// The number of replies that are still to come, and those that have come.
        var missing = 0
        var replies: [Reply] = []
    }

    /// Begins to connect.
    init(to address: RedisURL.Address, _ url: RedisURL, listens: Bool) throws(ConnectionFailure) {
        (self.address, self.url, self.listens) = (address, url, listens)
        let handle =
            switch address {
            case .host(let host, let port): lull_redis_connect(host, Int32(port))
            case .socket(let path): lull_redis_connect_unix(path)
            }
        guard let handle else { throw ConnectionFailure("out of memory") }
        self.handle = handle
        if lull_redis_error(handle) != nil { throw failure }
    }

    deinit { lull_redis_free(handle) }

    var descriptor: Int32 { lull_redis_descriptor(handle) }

    private var failure: ConnectionFailure {
        failure(lull_redis_error(handle).map { String(cString: $0) } ?? "the connection is broken")
    }

    private func failure(_ why: String) -> ConnectionFailure { ConnectionFailure("\(address): \(why)") }

    // MARK: - Connecting

    /// What is sent before any request.
    private enum Preparation {
        case credentials
        case role
        case slots
        case script(Script)
        /// Its answer does not matter.
        case name
    }

    func goOnConnecting() throws(ConnectionFailure) -> DescriptorWait? {
        if isConnected {
            for reply in try replies() { try takePreparation(reply) }
        } else {
            let error = lull_redis_connected(handle)
            if error != 0 { throw failure(String(cString: strerror(error))) }
            if url.usesTLS, case .host(let host, _) = address,
                let why = lull_redis_begin_tls(handle, host, url.authorities)
            {
                throw failure(String(cString: why))
            }
            isConnected = true
            try prepare()
        }
        if preparation.isEmpty { return nil }
        return try flush() ? .writing : .reading
    }

    private func prepare() throws(ConnectionFailure) {
        if let password = url.password {
            try prepare(.credentials, Command(["AUTH"] + (url.user.map { [$0] } ?? []) + [password]))
        }
        if url.database != 0 { try prepare(.credentials, Command("SELECT", "\(url.database)")) }
        try prepare(.name, Command("CLIENT", "SETNAME", "lull"))
        try prepare(.slots, Command("CLUSTER", "SLOTS"))
        try prepare(.role, Command("ROLE"))
    }

    private func prepare(_ step: Preparation, _ command: Command) throws(ConnectionFailure) {
        preparation.append(step)
        try append(command)
    }

    private func takePreparation(_ reply: Reply) throws(ConnectionFailure) {
        guard !preparation.isEmpty else { throw failure("an answer without a question") }
        let step = preparation.removeFirst()
        if let text = reply.error {
            let error = ServerError(text)
            switch step {
            case _ where ["LOADING", "BUSY", "MASTERDOWN"].contains(error.code): throw failure(text)
            case .role where error.code != "NOAUTH", .name, .slots: break
            case .credentials, .script, .role: throw ConnectionFailure(failure(text).message, refusal: error)
            }
        } else {
            switch step {
            case .role where slots.isEmpty && reply[0].text == "slave": throw failure("it is a replica")
            case .slots: slots = reply.list ?? []
            case .script(let script): hashes[script] = reply.text
            case .credentials, .role, .name: break
            }
        }
        // A server that knows who it is gets the scripts: a stranger may send nothing that long.
        if preparation.isEmpty, hashes.isEmpty {
            for script in Script.allCases { try prepare(.script(script), Command("SCRIPT", "LOAD", script.text)) }
        }
    }

    // MARK: - Requests

    func send(_ commands: Commands, until deadline: ContinuousClock.Instant) throws(ConnectionFailure) {
        var sent = Sent(request: commands)
        func append(_ command: Command, _ rest: Command = Command([])) throws(ConnectionFailure) {
            try self.append(command, rest)
            sent.missing += 1
        }
        for content in commands.contents {
            if commands.asked != nil { try append(Command("ASKING")) }
            switch content {
            case .command(let command): try append(command)
            case .script(let script, let place, let arguments):
                let keys = place.keys
                try append(Command(["EVALSHA", hashes[script] ?? "", "\(keys.count)"] + keys), arguments)
            }
        }
        if let replicas = commands.replicas {
            let time = max(1, (deadline - .now).components.seconds * 500)
            try append(Command("WAIT", "\(replicas)", "\(time)"))
        }
        self.sent.append(sent)
    }

    /// Adds a command to what is to be sent.
    ///
    /// - Parameter rest: More arguments.
    private func append(_ command: Command, _ rest: Command = Command([])) throws(ConnectionFailure) {
        try append(Array("*\(command.count + rest.count)\r\n".utf8))
        try append(command.bytes)
        try append(rest.bytes)
    }

    private func append(_ bytes: [UInt8]) throws(ConnectionFailure) {
        let result = bytes.withUnsafeBytes { buffer in
            lull_redis_append(handle, buffer.assumingMemoryBound(to: CChar.self).baseAddress, buffer.count)
        }
        if result != 0 { throw failure }
    }

    func flush() throws(ConnectionFailure) -> Bool {
        var isDone: Int32 = 0
        if lull_redis_write(handle, &isDone) != 0 { throw failure }
        return isDone == 0
    }

    func receive() throws(ConnectionFailure) -> [ServerArrival<Answered>] {
        var arrivals: [ServerArrival<Answered>] = []
        for reply in try replies() {
            if listens, reply[0].text == "message", let channel = reply[1].text {
                arrivals.append(.hint(String(channel.dropFirst(Scripts.channel("").count))))
                continue
            }
            guard !sent.isEmpty else { throw failure("an answer without a question") }
            sent[0].replies.append(reply)
            sent[0].missing -= 1
            if sent[0].missing == 0 { arrivals.append(.answer(Self.answer(sent.removeFirst()))) }
        }
        return arrivals
    }

    private static func answer(_ sent: Sent) -> Result<Answered, ServerError> {
        let (request, all) = (sent.request, sent.replies)
        // What is asked for elsewhere has an answer to that before each reply.
        let replies = request.contents.indices.map { request.asked == nil ? all[$0] : all[2 * $0 + 1] }
        if let error = replies.lazy.compactMap(\.error).first { return .failure(ServerError(error)) }
        return .success(
            Answered(replies: replies, replicas: request.replicas.map { _ in Int(all.last?.number ?? 0) }))
    }

    /// Takes the replies that have arrived.
    private func replies() throws(ConnectionFailure) -> [Reply] {
        if lull_redis_read(handle) != 0 { throw failure }
        var replies: [Reply] = []
        while true {
            var reply: OpaquePointer?
            if lull_redis_reply(handle, &reply) != 0 { throw failure }
            guard let reply else { return replies }
            replies.append(Reply(reply))
            lull_reply_free(reply)
        }
    }
}

extension Reply {
    fileprivate init(_ reply: OpaquePointer) {
        func bytes() -> [UInt8] {
            var length = 0
            guard let start = lull_reply_text(reply, &length) else { return [] }
            return Array(UnsafeRawBufferPointer(start: start, count: length))
        }
        switch UInt32(lull_reply_type(reply)) {
        case LULL_INTEGER.rawValue: self = .number(lull_reply_integer(reply))
        case LULL_STRING.rawValue, LULL_STATUS.rawValue: self = .bytes(bytes())
        case LULL_ERROR.rawValue: self = .error(String(decoding: bytes(), as: UTF8.self))
        case LULL_ARRAY.rawValue:
            self = .list(
                (0..<lull_reply_count(reply)).map { index in
                    lull_reply_element(reply, index).map { Reply($0) } ?? .none
                })
        default: self = .none
        }
    }
}
