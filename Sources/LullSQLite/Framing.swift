/// Several values in one column, so that another can be appended without reading the ones that are there.
///
/// Each is written as its length in decimal digits, a colon, its bytes and a comma (a *netstring*), which a person can read.
enum Framing {
    /// One value, framed.
    static func frame(_ value: [UInt8]) -> [UInt8] {
        var bytes = Array(String(value.count).utf8)
        bytes.reserveCapacity(bytes.count + value.count + 2)
        bytes.append(UInt8(ascii: ":"))
        bytes += value
        bytes.append(UInt8(ascii: ","))
        return bytes
    }

    /// The values that were framed, one after another; nil if the bytes are no such thing.
    static func values(in bytes: [UInt8]) -> [[UInt8]]? {
        var values: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let value = takeFirst(&rest) else { return nil }
            values.append(Array(value))
        }
        return values
    }

    /// How many bytes the first of some framed values take; nil if there are fewer, or the bytes are no such thing.
    static func size(ofFirst count: Int, in bytes: [UInt8]) -> Int? {
        var rest = bytes[...]
        for _ in 0..<count where takeFirst(&rest) == nil { return nil }
        return rest.startIndex
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
