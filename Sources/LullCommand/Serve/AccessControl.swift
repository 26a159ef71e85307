internal import LullHTTP

/// Who made a request, and what they may do.
struct Visitor: Sendable {
    let rights: AccessRights
    /// The name of the token; nil without one.
    let token: String?

    /// The name for the log of actions; nil if nothing is known.
    func name(in request: HTTPRequest) -> String? { token ?? HTTPLibrary.userName(of: request.descriptor) }
}

extension HTTPRequest {
    /// The token of `Authorization: Bearer TOKEN`; nil if there is none.
    var bearer: [UInt8]? {
        guard let field = field("Authorization"), let blank = field.firstIndex(of: " "),
            String(field[..<blank]).caseInsensitivelyEquals("Bearer")
        else { return nil }
        return Array(field[field.index(after: blank)...].utf8)
    }
}

/// Who may do what. Requests that a page of another site has made a browser send are refused, whatever they ask for.
struct AccessControl: Sendable {
    let place: Listener.Place
    /// Nil if everybody that reaches the server is let in.
    let tokens: [AccessToken]?
    let allowsActions: Bool
    /// The address under which a proxy shows the server: `https://lull.example.org`.
    let origin: String?
    /// Whether it is told how a proxy is made known.
    var mayBeBehindProxy = true

    /// Returns who made a request, or why that does not matter.
    func visitor(of request: HTTPRequest) throws(HTTPRefusal) -> Visitor {
        try checkSite(of: request)
        try checkArguments(of: request)
        let most: AccessRights = allowsActions ? [.submit, .look, .act] : [.submit, .look]
        guard let tokens else {
            return Visitor(rights: most, token: nil)
        }
        guard let token = request.bearer else {
            throw HTTPRefusal(
                status: 401, reason: "a token is needed: send \"Authorization: Bearer TOKEN\"",
                fields: [("WWW-Authenticate", "Bearer")])
        }
        // All are compared, so that the time says nothing about which one it was.
        let known = tokens.filter { HTTPLibrary.isSame($0.secret, token) }
        guard let known = known.first else {
            throw HTTPRefusal(status: 401, reason: "the token is not known", fields: [("WWW-Authenticate", "Bearer")])
        }
        return Visitor(rights: known.rights.intersection(most), token: known.name)
    }

    /// Throws if a token is in the URL.
    func checkArguments(of request: HTTPRequest) throws(HTTPRefusal) {
        if let argument = request.arguments.first(where: { ["token", "access_token", "bearer"].contains($0.name) }) {
            throw HTTPRefusal(
                status: 400,
                reason: "\(argument.name) is in the URL, which logs and histories keep: send the token as "
                    + "\"Authorization: Bearer TOKEN\", and replace it if it was a real one")
        }
    }

    // MARK: - Other sites

    /// Throws if a page of another site may have made a browser send the request.
    func checkSite(of request: HTTPRequest) throws(HTTPRefusal) {
        try checkHost(of: request)
        if let site = request.field("Sec-Fetch-Site"), ["cross-site", "same-site"].contains(site),
            !Self.isLink(request)
        {
            throw HTTPRefusal(status: 403, reason: "the request comes from a page of another site")
        }
        guard request.hasField("Origin") else { return }
        let host = request.field("Host") ?? ""
        let own = ["http://\(host)", "https://\(host)"] + [origin].compactMap(\.self)
        guard let sender = request.field("Origin"), own.contains(where: { sender.caseInsensitivelyEquals($0) }) else {
            throw HTTPRefusal(
                status: 403,
                reason: "the request comes from a page of another site\(adviceOnProxies)")
        }
    }

    private var adviceOnProxies: String {
        mayBeBehindProxy ? "; behind a proxy, give its address with --origin" : ""
    }

    /// Whether somebody may have followed a link: frames are not for others, and a stream is no page.
    private static func isLink(_ request: HTTPRequest) -> Bool {
        request.method == "GET" && request.field("Sec-Fetch-Mode") == "navigate"
            && ["document", nil].contains(request.field("Sec-Fetch-Dest")) && request.path != "/api/events"
    }

    /// Throws if a name of another site leads here (DNS rebinding): only then could its pages read the answers.
    private func checkHost(of request: HTTPRequest) throws(HTTPRefusal) {
        // With tokens, a name alone lets nobody in.
        if tokens != nil { return }
        // HTTP/1.0 has none. Browsers always send one.
        guard request.hasField("Host") else { return }
        let sent = request.field("Host") ?? ""
        let outside = origin.map { String($0.drop { $0 != "/" }.dropFirst(2)) }
        if let outside, sent.caseInsensitivelyEquals(outside) { return }
        if let name = Self.hostName(sent), isOwn(name) { return }
        throw HTTPRefusal(
            status: 421, reason: "the host \"\(Terminal.shown(sent))\" is not this server's\(adviceOnProxies)")
    }

    private func isOwn(_ name: String) -> Bool {
        if ["localhost", "::1"].contains(where: { name.caseInsensitivelyEquals($0) }) || Self.isLoopback(name) {
            return true
        }
        return switch place {
        case .address(let listening, _): name.caseInsensitivelyEquals(listening)
        // Clients write any word, but `ssh -L` brings browsers here, to which another site can give a name with a dot.
        case .path: !name.utf8.contains(UInt8(ascii: "."))
        }
    }

    /// Returns the name in a field `Host`, without the port; nil if it is none.
    private static func hostName(_ host: String) -> String? {
        // Not by characters, which takes ten times as long.
        var rest = host.utf8[...]
        let isBracketed = rest.first == UInt8(ascii: "[")
        if isBracketed { rest = rest.dropFirst() }
        let name = rest.prefix { $0 != UInt8(ascii: isBracketed ? "]" : ":") }
        rest = rest[name.endIndex...]
        if isBracketed, rest.popFirst() == nil { return nil }
        if rest.popFirst() ?? UInt8(ascii: ":") != UInt8(ascii: ":") || !rest.allSatisfy(\.isDigit) { return nil }
        return String(Substring(name))
    }

    /// Whether a name is an address of this machine: four numbers, the first of them 127.
    private static func isLoopback(_ name: String) -> Bool {
        let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0].elementsEqual("127".utf8)
            && parts.allSatisfy { $0.count <= 3 && $0.allSatisfy(\.isDigit) && UInt8(Substring($0)) != nil }
    }
}
