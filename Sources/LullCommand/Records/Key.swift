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
    /// A part of the record is the key; a JSON value in canonical form.
    case part(RecordPart)

    /// Returns the key of a record.
    func key(of record: ByteSlice) throws(RecordPart.Fault) -> Key {
        switch self {
        case .same: Key(bytes: [])
        case .part(let part):
            switch part {
            case .field: Key(bytes: Array(try part.find(in: record)))
            case .json: Key(bytes: JSONText.canonical(try part.find(in: record)))
            }
        }
    }

    // MARK: - Showing keys

    /// Appends a key as JSON.
    func append(_ key: Key, to text: inout [UInt8]) {
        switch self {
        case .same: text.append("null")
        case .part(.field): JSONText.append(key.bytes, to: &text)
        case .part(.json):
            if key.bytes.withUnsafeBufferPointer(UTF8Text.isValid) {
                text.append(contentsOf: key.bytes)
            } else {
                JSONText.append(plain(key), to: &text)
            }
        }
    }

    /// Returns a key as a command gets it: the content of a JSON string, the text of any other value.
    func plain(_ key: Key) -> [UInt8] {
        guard case .part(.json) = self, key.bytes.first == UInt8(ascii: "\"") else { return key.bytes }
        return key.bytes.withUnsafeBufferPointer { JSONText.content($0.part(1..<$0.count - 1)) }
    }
}
