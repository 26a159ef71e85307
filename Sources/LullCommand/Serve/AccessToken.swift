/// What a visitor may do.
struct AccessRights: OptionSet, Sendable {
    let rawValue: Int

    /// Submit values.
    static let submit = AccessRights(rawValue: 1)
    /// See the page and the metrics.
    static let look = AccessRights(rawValue: 2)
    /// Change what is in the store from the page.
    static let act = AccessRights(rawValue: 4)
}

/// A token of `--token-file`.
struct AccessToken {
    let secret: [UInt8]
    let rights: AccessRights
    /// Who has it, for the log of actions.
    let name: String

    private static let roles: [(name: Substring, rights: AccessRights)] = [
        ("submit", .submit), ("look", .look), ("act", [.submit, .look, .act]),
    ]

    /// Reads a file of tokens: a role, a token and perhaps a name on each line; empty lines and those with # say
    /// nothing.
    static func read(_ path: Argument) throws(Failure) -> [AccessToken] {
        let text = String(decoding: try ConfigurationFile.read(path, isSecret: true), as: UTF8.self)
        var tokens: [AccessToken] = []
        var linesOfTokens: [Substring: Int] = [:]
        // A newline after a carriage return is a character of its own.
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (number, line) in lines.enumerated() {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard let role = words.first, !role.hasPrefix("#") else { continue }
            let place = "\(String(cString: path)), line \(number + 1)"
            guard let rights = roles.first(where: { $0.name == role })?.rights else {
                throw .badData("\(place): the role must be submit, look or act, not \"\(role)\"")
            }
            guard words.count > 1 else { throw .badData("\(place): the token is missing: write ROLE TOKEN [NAME]") }
            guard words[1].utf8.count >= 16 else {
                throw .badData("\(place): the token is shorter than 16 characters and could be guessed")
            }
            // Which of the roles and names would hold?
            if let other = linesOfTokens.updateValue(number + 1, forKey: words[1]) {
                throw .badData("\(String(cString: path)): lines \(other) and \(number + 1) have the same token")
            }
            let name = words.dropFirst(2).joined(separator: " ")
            tokens.append(
                AccessToken(
                    secret: Array(words[1].utf8), rights: rights,
                    name: name.isEmpty ? "token \(tokens.count + 1)" : name))
        }
        guard !tokens.isEmpty else { throw .badData("\(String(cString: path)) has no token: write ROLE TOKEN [NAME]") }
        return tokens
    }
}
