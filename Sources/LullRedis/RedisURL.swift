internal import LullDurable

/// The URL of a server, or of the servers of a cluster or of a failover group.
///
/// `redis://user:password@host:6379/0?durability=everysec`; `redis+unix://user:password@/path/to/socket?db=0`;
/// `rediss://` with TLS. Several hosts, separated by commas, are tried in their order.
struct RedisURL: Sendable {
    /// Where a server is.
    enum Address: Hashable, Sendable {
        case host(String, port: Int)
        case socket(String)
    }

    private(set) var addresses: [Address] = []
    private(set) var user: String?
    private(set) var password: String?
    private(set) var database = 0
    private(set) var usesTLS = false
    /// The certificates by which a server's is verified, if not those of the system.
    private(set) var authorities: String?
    private(set) var durability: RedisStore.Durability?

    static let form = "redis://USER:PASSWORD@HOST:PORT/DATABASE"

    /// - Throws: ``/LullDurable/DurableError/unusable(_:)`` if it is no such URL.
    init(_ text: String) throws(DurableError) {
        let schemes = ["redis+unix://", "rediss://", "redis://"]
        guard let scheme = schemes.first(where: text.hasPrefix) else {
            throw .unusable("the URL of a Redis server has the form \(Self.form)")
        }
        try ServerURL.checkCredentials(text)
        var rest = text.dropFirst(scheme.count)
        if let question = rest.firstIndex(of: "?") {
            for parameter in rest[question...].dropFirst().split(separator: "&") { try take(parameter) }
            rest = rest[..<question]
        }
        let authority = rest.prefix { $0 != "/" }
        let path = rest[authority.endIndex...]
        var hosts = authority
        if let at = authority.lastIndex(of: "@") {
            try takeCredentials(authority[..<at])
            hosts = authority[authority.index(after: at)...]
        }
        if scheme == "redis+unix://" {
            guard hosts.isEmpty, path.count > 1 else {
                throw .unusable("the URL of a socket has the form redis+unix:///PATH, with three slashes")
            }
            addresses = [.socket(try Self.decoded(path))]
            return
        }
        usesTLS = scheme == "rediss://"
        if path.count > 1 {
            guard let number = Int(path.dropFirst()), number >= 0 else {
                throw .unusable("the database in the URL must be a number, not \"\(path.dropFirst())\"")
            }
            database = number
        }
        for host in hosts.split(separator: ",", omittingEmptySubsequences: false) {
            addresses.append(try Self.address(host))
        }
    }

    private mutating func takeCredentials(_ text: Substring) throws(DurableError) {
        let colon = text.firstIndex(of: ":")
        let name = try Self.decoded(text[..<(colon ?? text.endIndex)])
        user = name.isEmpty ? nil : name
        if let colon { password = try Self.decoded(text[text.index(after: colon)...]) }
    }

    private mutating func take(_ parameter: Substring) throws(DurableError) {
        let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let value = try parts.count == 2 ? Self.decoded(parts[1]) : ""
        switch parts[0] {
        case "durability":
            guard let durability = RedisStore.Durability(name: value) else {
                throw .unusable(
                    "the durability in the URL is memory, everysec, always or replicas:N, not \"\(value)\"")
            }
            self.durability = durability
        case "db":
            guard let number = Int(value), number >= 0 else {
                throw .unusable("the database in the URL must be a number, not \"\(value)\"")
            }
            database = number
        case "cacert": authorities = value
        default: throw .unusable("the URL has an unknown parameter: \(parts[0])")
        }
    }

    private static func address(_ text: Substring) throws(DurableError) -> Address {
        var host = text
        var port = 6379
        // An address of version 6 has colons of its own, and brackets.
        let end = text.hasPrefix("[") ? text.lastIndex(of: "]") ?? text.startIndex : text.startIndex
        if let colon = text[end...].lastIndex(of: ":") {
            guard let number = Int(text[text.index(after: colon)...]), 1...65535 ~= number else {
                throw .unusable("the port in the URL must be a number from 1 to 65535")
            }
            port = number
            host = text[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        return .host(host.isEmpty ? "127.0.0.1" : try decoded(host), port: port)
    }

    /// Replaces escapes such as `%40`.
    private static func decoded(_ text: Substring) throws(DurableError) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let digits = String(rest.prefix(2)), let value = UInt8(digits, radix: 16), digits.count == 2 else {
                throw .unusable("the URL has a % that no two hexadecimal digits follow: the character % is written %25")
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        guard !bytes.contains(0) else { throw .unusable("the URL has an escape that is not available: %00") }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension RedisURL.Address: CustomStringConvertible {
    var description: String {
        switch self {
        case .host(let host, let port): "\(host):\(port)"
        case .socket(let path): path
        }
    }
}
