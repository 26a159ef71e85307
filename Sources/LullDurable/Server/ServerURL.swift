/// The password in the URL of a server, which no message may show.
package enum ServerURL {
    /// Throws if a character of the credentials is not escaped: a part of the password would be taken for a host, a
    /// port or a database, and shown as one.
    package static func checkCredentials(_ text: String) throws(DurableError) {
        let parts = Parts(text[...])
        let authority = parts.body.prefix { $0 != "/" }
        guard
            authority.count(where: { $0 == "@" }) > 1 || parts.body.dropFirst(authority.count).contains("@")
                || parts.body.contains("?")
        else { return }
        throw .unusable("in the URL of a server, the characters @ / ? of a password are written %40 %2F %3F")
    }

    /// Returns the text of a URL, which may be mistyped, without the password. If it is unclear what belongs to the
    /// password, more is left out.
    package static func withoutPassword(_ text: String) -> String {
        // A path has no credentials.
        if !text.contains("://"), text.hasPrefix("sqlite:") || !text.contains("@") && !text.contains("password=") {
            return text
        }
        let parts = Parts(text[...])
        var body = parts.body
        if let at = body.lastIndex(of: "@"), let colon = body[..<at].firstIndex(of: ":") {
            body.removeSubrange(colon..<at)
            if body.hasPrefix("@") { body.removeFirst() }
        }
        // libpq has another form: host=db password=secret.
        if let word = body.firstRange(of: "password=") { body = body[..<word.lowerBound] + "password=…" }
        let shown = parts.parameters.filter { !$0.prefix { $0 != "=" }.contains("password") }
        return parts.scheme + body + (shown.isEmpty ? "" : "?" + shown.joined(separator: "&"))
    }

    /// `scheme://` `user:password@host/database` `?parameters`
    private struct Parts {
        let scheme: Substring
        let body: Substring
        let parameters: [Substring]

        init(_ text: Substring) {
            let start = text.firstRange(of: "://")?.upperBound ?? text.startIndex
            scheme = text[..<start]
            let rest = text[start...]
            let question = rest.firstIndex(of: "?") ?? rest.endIndex
            let parameters = rest[question...].dropFirst().split(separator: "&")
            // A question mark in a password begins no parameters.
            let areParameters = parameters.allSatisfy { parameter in
                let name = parameter.prefix { $0 != "=" }
                return !name.contains("@") && (name.count < parameter.count || !rest[question...].contains("@"))
            }
            body = areParameters ? rest[..<question] : rest
            self.parameters = areParameters ? parameters : []
        }
    }
}
