internal import CLullHTTP

/// Where a server listens: `HOST:PORT` or `unix:PATH`.
package struct Listener: Sendable {
    package enum Place: Sendable, Equatable {
        case address(host: String, port: UInt16)
        case path(String)
    }

    package let place: Place
    package let socket: Int32
    /// The port; 0 at a path. Where the place has 0, the system has chosen it.
    package let port: Int
    /// Which file the socket at a path is.
    private let file: (device: UInt64, number: UInt64)

    /// Reads a place; nil if the text names none.
    package static func place(_ text: String) -> Place? {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst("unix:".count))
            return path.isEmpty ? nil : .path(path)
        }
        guard let colon = text.lastIndex(of: ":"), let port = number(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        return host.isEmpty ? nil : .address(host: String(host), port: port)
    }

    /// Reads digits alone: no sign.
    private static func number(_ text: Substring) -> UInt16? {
        text.utf8.allSatisfy(\.isDigit) ? UInt16(text) : nil
    }

    /// Returns what to write instead of a text that names no place.
    ///
    /// - Parameter isForOthers: Whether other machines may be let in.
    package static func advice(_ text: String, isForOthers: Bool = true) -> String {
        func all(_ place: String) -> String { isForOthers ? ", or \(place) for all addresses" : "" }
        if text.hasPrefix("/") || text.hasPrefix("./") { return "write unix:\(text)" }
        if text == "unix:" { return "the path is missing, such as unix:/run/lull.sock" }
        if let scheme = ["http://", "https://"].first(where: text.hasPrefix) {
            let rest = text.dropFirst(scheme.count).prefix { $0 != "/" }
            return place(String(rest)) == nil ? "write 127.0.0.1:8385" : "write \(rest)"
        }
        let digits = text.hasPrefix(":") ? text.dropFirst() : text[...]
        if number(digits) != nil { return "write 127.0.0.1:\(digits)\(all("0.0.0.0:\(digits)"))" }
        if text.hasPrefix("[") || text.count(where: { $0 == ":" }) > 1 {
            return "write [::1]:8385\(all("[::]:8385"))"
        }
        guard let colon = text.firstIndex(of: ":") else { return "the port is missing, such as \(text):8385" }
        let port = text[text.index(after: colon)...]
        return port.isEmpty ? "the port is missing, such as \(text)8385" : "a port is a number up to 65535"
    }

    package struct Failure: Error {
        package let reason: String
    }

    /// Returns whether only this machine reaches a place.
    package static func isLocal(_ place: Place) throws(Failure) -> Bool {
        guard case .address(let host, _) = place else { return true }
        var why = Self.noReason
        let isLocal = lull_http_is_local(host, &why, why.count)
        if isLocal < 0 { throw Failure(why) }
        return isLocal != 0
    }

    /// Begins to listen.
    ///
    /// - Parameter isLocal: Whether only this machine may reach it: a name may have another address by now.
    package init(at place: Place, isLocal: Bool = true) throws(Failure) {
        self.place = place
        var why = Self.noReason
        switch place {
        case .address(let host, let port): socket = lull_http_listen(host, "\(port)", isLocal ? 1 : 0, &why, why.count)
        case .path(let path): socket = lull_http_listen_at(path, &why, why.count)
        }
        if socket < 0 { throw Failure(why) }
        port = Int(lull_http_port(socket))
        var (device, number): (UInt64, UInt64) = (0, 0)
        if case .path(let path) = place { lull_http_identify(path, &device, &number) }
        file = (device, number)
    }

    /// Ends listening. A socket in the file system is removed, unless another program has begun to listen there.
    package func end() {
        if case .path(let path) = place { lull_http_remove(path, file.device, file.number) }
        lull_http_close(socket)
    }

    private static let noReason = [CChar](repeating: 0, count: 256)
}

extension Listener.Failure {
    fileprivate init(_ text: [CChar]) {
        reason = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
