/// A request: what libmicrohttpd hands over of it.
package struct HTTPRequest: Sendable {
    package let method: String
    /// The path as it was sent: ``PercentEncoding`` decodes its parts.
    package let path: String
    /// The header fields, in their order.
    package let fields: [(name: String, value: String)]
    /// The arguments of the query, decoded.
    package let arguments: [(name: String, value: [UInt8])]
    /// The descriptor of the connection, for questions about its other end.
    package let descriptor: Int32
    package var body: [UInt8] = []

    package init(
        method: String, path: String, fields: [(name: String, value: String)],
        arguments: [(name: String, value: [UInt8])] = [], descriptor: Int32 = -1
    ) {
        (self.method, self.path, self.fields) = (method, path, fields)
        (self.arguments, self.descriptor) = (arguments, descriptor)
    }

    /// Returns the value of a header field; nil if there is none, or more than one, which could be understood in two
    /// ways.
    package func field(_ name: String) -> String? {
        guard let first = fields.firstIndex(where: { $0.name.caseInsensitivelyEquals(name) }) else { return nil }
        let isAlone = !fields[(first + 1)...].contains { $0.name.caseInsensitivelyEquals(name) }
        return isAlone ? fields[first].value : nil
    }

    package func hasField(_ name: String) -> Bool { fields.contains { $0.name.caseInsensitivelyEquals(name) } }

    /// Returns the text of a field: UTF-8, or else Latin-1, as HTTP once had it, so that different bytes do not become
    /// the same text.
    static func text(_ bytes: some Collection<UInt8>) -> String {
        String(validating: bytes, as: UTF8.self) ?? String(decoding: bytes.map { UInt16($0) }, as: UTF16.self)
    }

    /// Why the end of the request, or its host, could be understood in another way by a proxy in front of the server;
    /// nil if it could not. What a proxy takes for one request could then be two (request smuggling).
    var ambiguity: String? {
        var (lengths, hosts) = (0, 0)
        for (name, value) in fields {
            if name.caseInsensitivelyEquals("Content-Length") {
                lengths += 1
            } else if name.caseInsensitivelyEquals("Transfer-Encoding") {
                lengths += 1
                if !value.caseInsensitivelyEquals("chunked") { return "Transfer-Encoding must be chunked" }
            } else if name.caseInsensitivelyEquals("Host") {
                hosts += 1
            } else if name.utf8.contains(where: { $0 <= UInt8(ascii: " ") }) {
                // Some read what stands before the blank as the name.
                return "the name of a header field has a blank"
            }
        }
        if lengths > 1 { return "the length of the body is given twice" }
        return hosts > 1 ? "there is more than one host" : nil
    }

    /// Returns the values of an argument.
    package func arguments(_ name: String) -> [[UInt8]] { arguments.filter { $0.name == name }.map(\.value) }

    /// Returns the first value of an argument as text; nil if there is none.
    package func argument(_ name: String) -> String? {
        arguments(name).first.map { String(decoding: $0, as: UTF8.self) }
    }
}

extension String {
    /// Whether two texts are the same but for the case of ASCII letters, as names of header fields are compared.
    package func caseInsensitivelyEquals(_ other: String) -> Bool {
        func lower(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
        return utf8.count == other.utf8.count && zip(utf8, other.utf8).allSatisfy { lower($0) == lower($1) }
    }
}
