internal import CLullRedis
internal import LullDurable

/// A connection of hiredis that never blocks. Only the client's thread uses it.
final class Connection {
    private let handle: OpaquePointer

    /// Begins to connect.
    init(to address: RedisURL.Address) throws(Broken) {
        let handle =
            switch address {
            case .host(let host, let port): lull_redis_connect(host, Int32(port))
            case .socket(let path): lull_redis_connect_unix(path)
            }
        guard let handle else { throw Broken(message: "out of memory") }
        self.handle = handle
        if let error = lull_redis_error(handle) { throw Broken(message: String(cString: error)) }
    }

    deinit { lull_redis_free(handle) }

    var descriptor: Int32 { lull_redis_descriptor(handle) }

    private var broken: Broken {
        Broken(message: lull_redis_error(handle).map { String(cString: $0) } ?? "the connection is broken")
    }

    /// Checks that the connection was made, after the descriptor has become ready.
    func finishConnecting() throws(Broken) {
        let error = lull_redis_connected(handle)
        if error != 0 { throw Broken(message: String(cString: strerror(error))) }
    }

    /// Begins TLS.
    func beginTLS(_ host: String, authorities: String?) throws(Broken) {
        if let why = lull_redis_begin_tls(handle, host, authorities) { throw Broken(message: String(cString: why)) }
    }

    /// Adds a command to what is to be sent.
    ///
    /// - Parameter rest: More arguments.
    func append(_ command: Command, _ rest: Command = Command([])) throws(Broken) {
        try append(Array("*\(command.count + rest.count)\r\n".utf8))
        try append(command.bytes)
        try append(rest.bytes)
    }

    private func append(_ bytes: [UInt8]) throws(Broken) {
        let result = bytes.withUnsafeBytes { buffer in
            lull_redis_append(handle, buffer.assumingMemoryBound(to: CChar.self).baseAddress, buffer.count)
        }
        if result != 0 { throw broken }
    }

    /// Sends what the system takes; returns whether something is left.
    func flush() throws(Broken) -> Bool {
        var isDone: Int32 = 0
        if lull_redis_write(handle, &isDone) != 0 { throw broken }
        return isDone == 0
    }

    /// Takes the replies that have arrived.
    func receive() throws(Broken) -> [Reply] {
        if lull_redis_read(handle) != 0 { throw broken }
        var replies: [Reply] = []
        while true {
            var reply: OpaquePointer?
            if lull_redis_reply(handle, &reply) != 0 { throw broken }
            guard let reply else { return replies }
            replies.append(Reply(reply))
            lull_reply_free(reply)
        }
    }
}

/// A connection that was lost, or could not be made.
struct Broken: Error {
    let message: String
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
