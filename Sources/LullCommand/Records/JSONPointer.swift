/// A JSON pointer (RFC 6901) such as `/device/id`; the empty pointer is the whole value.
struct JSONPointer: Equatable {
    /// Names of members, or indices of elements.
    let tokens: [[UInt8]]

    /// Returns nil if the text is no pointer.
    init?(_ text: [UInt8]) {
        var tokens: [[UInt8]] = []
        var position = 0
        while position < text.count {
            if text[position] == UInt8(ascii: "/") {
                tokens.append([])
            } else if tokens.isEmpty {
                return nil
            } else if text[position] == UInt8(ascii: "~") {
                position += 1
                guard position < text.count, text[position] == UInt8(ascii: "0") || text[position] == UInt8(ascii: "1")
                else { return nil }
                tokens[tokens.count - 1].append(UInt8(ascii: text[position] == UInt8(ascii: "0") ? "~" : "/"))
            } else {
                tokens[tokens.count - 1].append(text[position])
            }
            position += 1
        }
        self.tokens = tokens
    }

    /// Finds the value in a text, which must be valid JSON from beginning to end. If a name occurs twice, the last
    /// member counts.
    func find(in text: ByteSlice) throws(JSONScanner.Fault) -> ByteSlice? {
        var value = text.part(try JSONScanner.whole(text))
        for token in tokens {
            guard let part = try Self.step(token, value) else { return nil }
            value = part
        }
        return value
    }

    private static func step(_ token: [UInt8], _ value: ByteSlice) throws(JSONScanner.Fault) -> ByteSlice? {
        var scanner = JSONScanner(value, takesAnyBytes: true)
        var isFirst = true
        var found: ByteSlice?
        switch scanner.next {
        case UInt8(ascii: "{"):
            try scanner.open("{", orThrow: .expectedObject)
            while let name = try scanner.nextMember(&isFirst) {
                let member = try scanner.value()
                let content = value.part(name.content)
                let isMatch =
                    name.hasEscapes
                    ? JSONText.content(content) == token : token.withUnsafeBufferPointer { content.isEqual(to: $0) }
                if isMatch { found = value.part(member) }
            }
        case UInt8(ascii: "["):
            guard var index = index(token) else { return nil }
            try scanner.open("[", orThrow: .expectedValue)
            while try scanner.nextElement(&isFirst) {
                let element = try scanner.value()
                if index == 0 { return value.part(element) }
                index -= 1
            }
        default: break
        }
        return found
    }

    /// Returns the index of an element: digits without leading zeros.
    private static func index(_ token: [UInt8]) -> Int? {
        guard let first = token.first, first != UInt8(ascii: "0") || token.count == 1,
            token.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int(String(decoding: token, as: UTF8.self))
    }
}
