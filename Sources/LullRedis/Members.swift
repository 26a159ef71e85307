internal import LullCore
internal import LullDurable

// The bytes of members and fields, beside those of rows.

/// The members by which ends are in the order of keys and of their last submits: the key after its length, the last
/// submit, and the end.
enum EndMember {
    static func prefix(_ key: [UInt8]) -> [UInt8] {
        withUnsafeBytes(of: UInt16(key.count).bigEndian, Array.init) + key
    }

    static func bytes(_ number: Int64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian, Array.init) }

    static func bytes(_ end: StoredEnd, of key: [UInt8]) -> [UInt8] {
        prefix(key) + bytes(end.submits.upperBound) + end.bytes
    }

    /// The key and the end of a member.
    static func parts(_ member: [UInt8]) throws(DurableError) -> (key: [UInt8], end: StoredEnd) {
        let length = member.prefix(2).reduce(0) { $0 << 8 | Int($1) }
        guard member.count >= 2 + length + 8 else { throw .notUnderstood }
        return (Array(member[2..<2 + length]), try StoredEnd(Array(member[(2 + length + 8)...])))
    }

    static func end(_ member: [UInt8]?, of key: [UInt8]) throws(DurableError) -> StoredEnd {
        guard let member, member.count > key.count + 10 else { throw .notUnderstood }
        return try StoredEnd(Array(member[(key.count + 10)...]))
    }

    /// The command that returns the newest ends of a key.
    static func newest(_ limit: Int, of key: [UInt8], in place: ShardPlace) -> Command {
        var command = Command("ZREVRANGEBYLEX", place.key(.ends))
        command.add([UInt8(ascii: "(")] + prefix(key) + [0xFF])
        command.add([UInt8(ascii: "[")] + prefix(key))
        for part in ["LIMIT", "0", "\(limit)"] { command.add(part) }
        return command
    }
}

extension InboxEntry {
    /// Reads a member of the inbox, as `append.lua` makes it.
    init?(_ member: [UInt8]?, of key: [UInt8]) {
        guard let member else { return nil }
        var rest = member.dropFirst(2 + key.count)
        func number(_ length: Int) -> Int64 {
            defer { rest = rest.dropFirst(length) }
            return rest.prefix(length).reduce(0) { $0 << 8 | Int64($1) }
        }
        func part() -> [UInt8] {
            let length = Int(number(4))
            defer { rest = rest.dropFirst(length) }
            return Array(rest.prefix(length))
        }
        func text() -> String? {
            let bytes = part()
            return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
        }
        func wait() -> CoreDuration? { text().flatMap { Int64($0) }.map { CoreDuration(stored: $0) } }
        let (entry, at) = (number(8), number(8))
        let call: Call
        switch rest.popFirst() {
        case UInt8(ascii: "s"):
            let value = part()
            call = .submit(value: value, wait: wait(), token: text(), context: text())
        case UInt8(ascii: "t"): call = .touch(wait: wait())
        case UInt8(ascii: "f"): call = .flush
        case UInt8(ascii: "c"): call = .cancel
        default: return nil
        }
        self.init(call, number: entry, at: CoreInstant(microseconds: at), stored: member)
    }
}

extension DurableReceipt {
    /// The receipt as the answer to a token.
    var bytes: [UInt8] {
        var writer = RowBytesWriter()
        var (generation, due) = (Optional(generation), due)
        writer.optional("generation", &generation)
        writer.optional("due", &due)
        writer.bytes(key)
        return writer.result
    }

    init?(stored bytes: [UInt8]?, _ namespace: String) {
        guard let bytes else { return nil }
        var reader = RowBytesReader(bytes)
        var (generation, due): (Int64?, Int64?)
        do throws(DurableError) {
            try reader.optional("generation", &generation)
            try reader.optional("due", &due)
            guard let generation, let key = try reader.bytes() else { return nil }
            self.init(namespace: namespace, key: key, generation: generation, dueIn: nil, due: due)
        } catch { return nil }
    }
}

extension DurablePause {
    /// The pause as a shard has it: its instant, its end or `-`, and its reason.
    var text: String {
        let begin = time.components.seconds * 1_000_000 + time.components.attoseconds / 1_000_000_000_000
        return "\(begin) \(end.map { "\($0.microseconds)" } ?? "-") \(reason ?? "")"
    }

    /// Reads the pause of a namespace; nil if there is none.
    init?(stored bytes: [UInt8]?) {
        let parts = bytes?.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard let parts, parts.count == 3, let at = Int64(parts[0]) else { return nil }
        self.init(
            reason: parts[2].isEmpty ? nil : parts[2], time: .microseconds(at),
            end: Int64(parts[1]).map(CoreInstant.init(microseconds:)))
    }
}
