/// The key under which records are coalesced: bytes that are equal or not.
struct Key: Hashable {
    let bytes: [UInt8]

    static func == (left: Key, right: Key) -> Bool {
        left.bytes == right.bytes
    }

    func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

/// How to find the key of a record.
enum KeyRule {
    /// All records have the same key.
    case same
    /// A field, counted from 1. Without a delimiter, blanks separate fields as in awk.
    case field(Int, delimiter: [UInt8]?)
    /// A value of a JSON record, in canonical form.
    case json(JSONPointer)

    /// Why a record has no key.
    enum Fault: Error {
        case noField(Int)
        case noJSON(JSONScanner.Fault)
        case noValue
    }

    /// Returns the key of a record.
    func key(of record: ByteSlice) throws(Fault) -> Key {
        switch self {
        case .same: return Key(bytes: [])
        case .field(let number, delimiter: nil):
            guard let field = Self.field(number, of: record) else { throw .noField(number) }
            return Key(bytes: Array(field))
        case .field(let number, let delimiter?):
            guard let field = Self.field(number, of: record, delimiter) else { throw .noField(number) }
            return Key(bytes: Array(field))
        case .json(let pointer):
            let value: ByteSlice?
            do throws(JSONScanner.Fault) { value = try pointer.find(in: record) } catch { throw .noJSON(error) }
            guard let value else { throw .noValue }
            return Key(bytes: JSONText.canonical(value))
        }
    }

    private static func field(_ number: Int, of record: ByteSlice) -> ByteSlice? {
        func isBlank(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\n")
        }
        var position = 0
        var fields = 0
        while true {
            while position < record.count, isBlank(record[position]) { position += 1 }
            if position == record.count { return nil }
            let start = position
            while position < record.count, !isBlank(record[position]) { position += 1 }
            fields += 1
            if fields == number { return record.part(start..<position) }
        }
    }

    private static func field(_ number: Int, of record: ByteSlice, _ delimiter: [UInt8]) -> ByteSlice? {
        var start = 0
        var fields = 0
        while true {
            let stop = position(of: delimiter, in: record, from: start)
            fields += 1
            if fields == number { return record.part(start..<(stop ?? record.count)) }
            guard let stop else { return nil }
            start = stop + delimiter.count
        }
    }

    /// In UTF-8 the bytes of one character never occur inside another.
    private static func position(of delimiter: [UInt8], in record: ByteSlice, from start: Int) -> Int? {
        var position = start
        while position + delimiter.count <= record.count {
            if record[position] == delimiter[0],
                record.part(position..<position + delimiter.count).elementsEqual(delimiter)
            {
                return position
            }
            position += 1
        }
        return nil
    }

    // MARK: - Showing keys

    /// Appends a key as JSON.
    func append(_ key: Key, to text: inout [UInt8]) {
        switch self {
        case .same: text.append("null")
        case .field: JSONText.append(key.bytes, to: &text)
        case .json:
            if key.bytes.withUnsafeBufferPointer(UTF8Text.isValid) {
                text.append(contentsOf: key.bytes)
            } else {
                JSONText.append(plain(key), to: &text)
            }
        }
    }

    /// Returns a key as a command gets it: the content of a JSON string, the text of any other value.
    func plain(_ key: Key) -> [UInt8] {
        guard case .json = self, key.bytes.first == UInt8(ascii: "\"") else { return key.bytes }
        return key.bytes.withUnsafeBufferPointer { JSONText.content($0.part(1..<$0.count - 1)) }
    }
}

extension KeyRule.Fault: CustomStringConvertible {
    /// The part of the reason that other records share.
    var kind: String {
        switch self {
        case .noField(let number): "no field \(number)"
        case .noJSON: "not JSON"
        case .noValue: "no value at the pointer"
        }
    }

    /// The reason, for a message.
    var description: String {
        switch self {
        case .noField(let number): "it has no field \(number)"
        case .noJSON(let fault): "it is not JSON: \(fault)"
        case .noValue: "it has no value at the pointer"
        }
    }
}
