/// The part of a record that is its key or its delay.
enum RecordPart {
    /// A field, counted from 1. Without a delimiter, blanks separate fields as in awk.
    case field(Int, delimiter: [UInt8]?)
    /// A value of a JSON record.
    case json(JSONPointer)

    /// Why a record lacks the part.
    enum Fault: Error {
        case noField(Int)
        case noJSON(JSONScanner.Fault)
        case noValue
    }

    /// Returns the part of a record: the bytes of a field, the text of a JSON value.
    func find(in record: ByteSlice) throws(Fault) -> ByteSlice {
        switch self {
        case .field(let number, delimiter: nil):
            guard let field = Self.field(number, of: record) else { throw .noField(number) }
            return field
        case .field(let number, let delimiter?):
            guard let field = Self.field(number, of: record, delimiter) else { throw .noField(number) }
            return field
        case .json(let pointer):
            let value: ByteSlice?
            do throws(JSONScanner.Fault) { value = try pointer.find(in: record) } catch { throw .noJSON(error) }
            guard let value else { throw .noValue }
            return value
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
}

extension RecordPart.Fault: CustomStringConvertible {
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
        case .noField(let number): "it has no field \(number) (the first is 1)"
        case .noJSON(let fault): "it is not JSON: \(fault)"
        case .noValue: "it has no value at the pointer"
        }
    }
}
