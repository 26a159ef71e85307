internal import LullCore

/// Why a record lacks its key or its delay, or is not JSON.
struct RecordFault: Error {
    /// The part of the reason that other records share.
    let kind: String
    let reason: String

    static func notJSON(_ fault: JSONScanner.Fault) -> RecordFault {
        RecordFault(kind: "not JSON", reason: "it is not JSON: \(fault)")
    }
}

/// The part of a record that is its key or its delay.
enum RecordPart {
    /// A field, counted from 1. Without a delimiter, blanks separate fields as in awk.
    case field(Int, delimiter: [UInt8]?)
    /// A value of a JSON record.
    case json(JSONPointer)

    /// Returns the part of a record: the bytes of a field, the text of a JSON value.
    func find(in record: ByteSlice) throws(RecordFault) -> ByteSlice {
        switch self {
        case .field(let number, let delimiter):
            let field =
                if let delimiter { Self.field(number, of: record, delimiter) } else { Self.field(number, of: record) }
            if let field { return field }
            throw RecordFault(kind: "no field \(number)", reason: "it has no field \(number) (the first is 1)")
        case .json(let pointer):
            let value: ByteSlice?
            do throws(JSONScanner.Fault) {
                value = try pointer.find(in: record)
            } catch {
                throw .notJSON(error)
            }
            if let value { return value }
            throw RecordFault(kind: "no value at the pointer", reason: "it has no value at the pointer")
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
            if record[position] == delimiter[0], record[position...].starts(with: delimiter) { return position }
            position += 1
        }
        return nil
    }
}

// MARK: - Keys

/// The key under which records are coalesced: bytes that are equal or not.
struct Key: Hashable {
    let bytes: [UInt8]

    /// The start of a message about the key; empty if all records have the same one.
    var subject: String { bytes.isEmpty ? "" : "key \(Terminal.shown(bytes)): " }

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

    func key(of record: ByteSlice) throws(RecordFault) -> Key {
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

// MARK: - Delays

extension RecordPart {
    /// Returns the delay of a record: a duration such as `500ms`, which is a string in a JSON record.
    func delay(of record: ByteSlice) throws(RecordFault) -> CoreDuration {
        let kind = "unreadable delay"
        let found = try find(in: record)
        let text: String? =
            if case .json = self { JSONText.string(found) } else { String(decoding: found, as: UTF8.self) }
        guard let text else {
            throw RecordFault(kind: kind, reason: "its delay must be a string such as \"500ms\", not \(found.shown)")
        }
        do throws(Refusal) { return try DurationText.read(text) } catch {
            throw RecordFault(kind: kind, reason: "its delay \(error.reason)")
        }
    }
}
