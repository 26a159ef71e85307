internal import CLullHTTP

/// The libraries for `lull serve`.
package enum HTTPLibrary {
    /// Loads them. Returns nil, or why that failed.
    package static func load() -> String? { lull_http_load().map { String(cString: $0) } }

    /// The version of libmicrohttpd, which must have been loaded.
    package static var version: String { String(cString: lull_http_version()) }

    /// Returns the HMAC-SHA-256 of some bytes.
    package static func hmac(of bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        let code = lull_hmac_sha256(key, key.count, bytes, bytes.count, &digest)
        // It fails only where there is no memory, or where the algorithm is not allowed: then nothing may pass as
        // verified.
        return code == 0 ? digest : []
    }

    /// Returns whether two secrets are the same, in a time that depends only on their lengths.
    package static func isSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.count == other.count && !one.isEmpty && lull_is_same(one, other, one.count) != 0
    }

    /// Returns the name of the user at the other end of a connection; nil unless it is a socket in the file system.
    package static func userName(of descriptor: Int32) -> String? {
        let user = lull_http_user(descriptor)
        if user < 0 { return nil }
        var name = [CChar](repeating: 0, count: 256)
        lull_http_user_name(user, &name, name.count)
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
