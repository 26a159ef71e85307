internal import LullDurable

/// Several values in one column, as version 1 of the schema stored those of `collect`: each is its length in decimal digits, a
/// colon, its bytes and a comma (a *netstring*).
enum Framing {
    /// Returns the framed values in order; nil if the bytes are not framed values.
    static func values(in bytes: [UInt8]) -> [[UInt8]]? {
        var values: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let value = takeFirst(&rest) else { return nil }
            values.append(Array(value))
        }
        return values
    }

    private static func takeFirst(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let colon = rest.firstIndex(of: UInt8(ascii: ":")),
            let count = Int(String(decoding: rest[..<colon], as: UTF8.self)), count >= 0
        else { return nil }
        rest = rest[(colon + 1)...]
        guard rest.count > count, rest[rest.startIndex + count] == UInt8(ascii: ",") else { return nil }
        defer { rest = rest.dropFirst(count + 1) }
        return rest.prefix(count)
    }
}

extension Connection {
    /// Moves each value of `collect` to a row of its own. Where submits were absorbed between values, version 1 did not store which
    /// submits the values belong to: they get the first numbers of their range.
    func separateValues() throws(DurableError) {
        let collecting = "namespace IN (SELECT id FROM namespaces WHERE combination = 'collect')"
        for (column, first) in [
            ("pending", "generation - pending_count + 1"), ("ready", "ready_from"), ("run", "run_from"),
        ] {
            try separate(
                "SELECT namespace, key, \(first), \(column) FROM work WHERE \(column) IS NOT NULL AND \(collecting)")
        }
        try separate("SELECT namespace, key, first_submit, value FROM dead WHERE \(collecting)")
        try execute(
            """
            UPDATE work SET pending = NULL, ready = NULL, run = NULL WHERE \(collecting);
            UPDATE dead SET value = NULL WHERE \(collecting);
            """)
    }

    private func separate(_ query: String) throws(DurableError) {
        let framed = try prepare(query)
        defer { framed.reset() }
        while try framed.next() {
            guard let values = Framing.values(in: framed.blob(3)) else {
                throw damage("a list of values that cannot be read")
            }
            let insertion = try self[.insertValue]
            insertion.bind(":namespace", framed.integer(0))
            insertion.bind(":key", blob: framed.blob(1))
            for (number, value) in values.enumerated() {
                insertion.bind(":generation", framed.integer(2) &+ Int64(number))
                insertion.bind(":value", blob: value)
                try insertion.run()
            }
        }
    }
}
