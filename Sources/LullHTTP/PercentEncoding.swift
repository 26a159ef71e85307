extension UInt8 {
    /// Whether it is a digit of ASCII. The integers of the standard library take signs as well.
    package var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}

/// Percent-encoding (RFC 3986, section 2.1).
package enum PercentEncoding {
    /// Returns the bytes; nil if a percent sign begins no byte.
    ///
    /// - Parameter isQuery: Whether a plus sign is a blank, as in what a form sends.
    package static func decoded(_ text: some Collection<UInt8>, isQuery: Bool = false) -> [UInt8]? {
        var bytes = Array(text)
        // For the most part there is nothing to decode.
        if !bytes.contains(UInt8(ascii: "%")), !isQuery || !bytes.contains(UInt8(ascii: "+")) { return bytes }
        var rest = bytes[...]
        bytes = []
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(isQuery && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexDigit), let low = rest.popFirst().flatMap(hexDigit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
    }
}
