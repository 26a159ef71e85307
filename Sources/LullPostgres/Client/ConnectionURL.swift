internal import CLullPostgres
internal import LullDurable

/// The URL of a database, as libpq reads it, with a parameter of our own: `schema`.
///
/// `postgres://user@host:port/database?schema=lull`; several hosts are tried in their order.
struct ConnectionURL: Sendable {
    /// The schema, by default `lull`.
    private(set) var schema = "lull"
    /// The hosts, in the order in which they are tried.
    private(set) var hosts: [Host] = []

    struct Host: Sendable, CustomStringConvertible {
        /// The parameters of a connection to it.
        fileprivate(set) var parameters: [(name: String, value: String)]
        let description: String
    }

    /// - Throws: ``/LullDurable/DurableError/unusable(_:)`` if it is no such URL.
    init(_ text: String) throws(DurableError) {
        if let why = lull_pq_load() { throw .unusable(String(cString: why)) }
        guard text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") else {
            throw .unusable("the URL of a PostgreSQL database begins with postgres://")
        }
        try ServerURL.checkCredentials(text)
        var parameters = try Self.parse(try takeSchema(from: text))
        Self.addDefaults(to: &parameters)
        let names = Self.list(parameters["host"])
        let addresses = Self.list(parameters["hostaddr"])
        let ports = Self.list(parameters["port"])
        // libpq would quote it, and it is a part of the password if the host was forgotten.
        guard ports.allSatisfy({ Int($0).map { 1...65535 ~= $0 } ?? $0.isEmpty }) else {
            throw .unusable("the port in the URL must be a number from 1 to 65535")
        }
        for index in 0..<max(1, names.count, addresses.count) {
            var one = parameters
            if !names.isEmpty { one["host"] = names[index % names.count] }
            if !addresses.isEmpty { one["hostaddr"] = addresses[index % addresses.count] }
            if !ports.isEmpty { one["port"] = ports[ports.count == 1 ? 0 : index % ports.count] }
            hosts.append(
                Host(
                    parameters: one.sorted { $0.key < $1.key }.map { ($0.key, $0.value) },
                    description: "\(one["host"] ?? one["hostaddr"] ?? "the local server"):\(one["port"] ?? "5432")"))
        }
        if hosts.count > 1, parameters["target_session_attrs"] == nil {
            for index in hosts.indices { hosts[index].parameters.append(("target_session_attrs", "read-write")) }
        }
    }

    /// Returns the text without the parameter that libpq does not know.
    private mutating func takeSchema(from text: String) throws(DurableError) -> String {
        guard let question = text.firstIndex(of: "?") else { return text }
        var kept: [Substring] = []
        for parameter in text[text.index(after: question)...].split(separator: "&") {
            guard parameter.hasPrefix("schema=") else {
                kept.append(parameter)
                continue
            }
            schema = String(parameter.dropFirst("schema=".count))
            guard !schema.isEmpty, schema.utf8.count < 64, !schema.contains("%"), !schema.contains("\0") else {
                throw .unusable("the schema in the URL must be a name of 1 to 63 bytes, without escapes")
            }
        }
        let base = text[..<question]
        return kept.isEmpty ? String(base) : base + "?" + kept.joined(separator: "&")
    }

    private static func parse(_ text: String) throws(DurableError) -> [String: String] {
        var error: UnsafeMutablePointer<CChar>?
        guard let options = lull_PQconninfoParse(text, &error) else {
            defer { lull_PQfreemem(error) }
            let message = error.map { String(cString: $0) } ?? "out of memory"
            // The message quotes the part in question, which may be the password.
            throw .unusable("the URL of the database cannot be read: \(message.prefix { $0 != ":" && $0 != "\n" })")
        }
        defer { lull_PQconninfoFree(options) }
        var parameters: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { parameters[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return parameters
    }

    /// Parameters with which a silent connection ends, and text has one encoding.
    private static func addDefaults(to parameters: inout [String: String]) {
        let defaults = [
            "client_encoding": "UTF8", "keepalives_idle": "15", "keepalives_interval": "5", "keepalives_count": "3",
            "tcp_user_timeout": "15000", "fallback_application_name": "lull",
        ]
        parameters.merge(defaults) { given, _ in given }
        // The client has a timer of its own for each host.
        parameters["connect_timeout"] = nil
    }

    private static func list(_ text: String?) -> [String] {
        text?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
    }

    /// The schema as an identifier in a statement.
    var quotedSchema: String {
        "\"" + schema.quoting("\"", with: "\"") + "\""
    }
}

extension String {
    /// Returns the text with a sign before each of some others. It looks at scalars: in a character, a mark that
    /// combines with a quote would hide the quote.
    func quoting(_ others: String, with sign: Unicode.Scalar) -> String {
        var quoted = UnicodeScalarView()
        for scalar in unicodeScalars {
            if others.unicodeScalars.contains(scalar) { quoted.append(sign) }
            quoted.append(scalar)
        }
        return String(quoted)
    }
}
