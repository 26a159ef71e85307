/// JSON that is written without Foundation, in one line.
struct JSONLine {
    private(set) var bytes: [UInt8] = []
    private var isFirst = true

    mutating func object(_ body: (inout JSONLine) -> Void) {
        bytes.append(UInt8(ascii: "{"))
        isFirst = true
        body(&self)
        bytes.append(UInt8(ascii: "}"))
        isFirst = false
    }

    mutating func array<Element>(
        _ name: StaticString, of elements: [Element], _ body: (inout JSONLine, Element) -> Void
    ) {
        begin(name)
        bytes.append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            body(&self, element)
        }
        bytes.append(UInt8(ascii: "]"))
        isFirst = false
    }

    mutating func member(_ name: StaticString, _ number: some BinaryInteger) {
        begin(name)
        bytes += "\(number)".utf8
    }

    mutating func member(_ name: StaticString, _ text: String) {
        begin(name)
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case ..<0x20:
                bytes += "\\u00".utf8
                bytes += (byte < 0x10 ? "0" : "").utf8
                bytes += String(byte, radix: 16).utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Adds nanoseconds, zero or more, as seconds in whole microseconds; null for nil.
    mutating func member(_ name: StaticString, seconds nanoseconds: Int64?) {
        begin(name)
        guard let nanoseconds else {
            bytes += "null".utf8
            return
        }
        let (seconds, rest) = (nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000 / 1000)
        // A million more, so that no leading zero is missing.
        bytes += "\(seconds).\(String(1_000_000 + rest).dropFirst())".utf8
    }

    private mutating func begin(_ name: StaticString) {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
        bytes += "\"\(name)\":".utf8
    }
}
