// A value and its context, as every store holds them: as one piece of bytes. So the context is wherever its value is,
// in pending, ready and dead rows, in runs and in batches, and a store need not know of it.

/// The context of a submit: text that travels with its value.
package enum StoredValue {
    /// The byte before and after a context. No UTF-8 has it, so neither a context nor a value that is text needs
    /// escaping.
    static let mark: UInt8 = 0xFF

    /// Returns a value as a store holds it: as it is, or with the context in front. A value that begins with the mark
    /// gets an empty context.
    static func bytes(of value: [UInt8], context: String?) -> [UInt8] {
        if context == nil, value.first != mark { return value }
        return [mark] + Array((context ?? "").utf8) + [mark] + value
    }

    /// Returns the value and the context that a store holds as these bytes.
    ///
    /// Another program may have stored a value that begins with the mark as it is: what cannot be a context is part of
    /// the value.
    static func parts(of bytes: [UInt8]) -> (value: [UInt8], context: String?) {
        guard bytes.first == mark else { return (bytes, nil) }
        let rest = bytes.dropFirst()
        guard let end = rest.prefix(DurableLimits.longestContext + 1).firstIndex(of: mark),
            let context = String(validating: rest[..<end], as: UTF8.self)
        else { return (bytes, nil) }
        return (Array(rest[(end + 1)...]), context.isEmpty ? nil : context)
    }

    /// Returns the values that a store holds as these bytes, and the context of the last one.
    static func parts(of stored: [[UInt8]]) -> (values: [[UInt8]], context: String?) {
        // Most values have none.
        guard stored.contains(where: { $0.first == mark }) else { return (stored, nil) }
        let all = stored.map { parts(of: $0) }
        return (all.map { $0.value }, all.last?.context)
    }
}

extension DurableSubmission {
    /// The value with its context, as a store holds them.
    package var storedValue: [UInt8] { StoredValue.bytes(of: value, context: context) }
}
