// Reads numbers that the host has written, and writes some to it.
internal import Controls
internal import Port

struct Numbers {
    private let file: Int32
    private var bytes: [1024 of UInt8] = .init(repeating: 0)
    private var next = 0
    private var end = 0

    init(_ file: Int32) { self.file = file }

    private mutating func byte() -> UInt8? {
        if next == end {
            var span = bytes.mutableSpan
            end = span.withUnsafeMutableBytes { Int(host_read(file, $0.baseAddress, $0.count)) }
            next = 0
            if end == 0 { return nil }
        }
        next += 1
        return bytes[next - 1]
    }

    /// Returns the next number, or nil at the end. It wraps around at 32 bits.
    mutating func number() -> Int? {
        var byte = byte()
        while byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") { byte = self.byte() }
        guard byte != nil else { return nil }
        let isNegative = byte == UInt8(ascii: "-")
        if isNegative { byte = self.byte() }
        var number = 0
        while let digit = byte, digit >= UInt8(ascii: "0") {
            number = number &* 10 &+ Int(digit - UInt8(ascii: "0"))
            byte = self.byte()
        }
        return isNegative ? -number : number
    }

    mutating func optional() -> Int? {
        guard let number = number(), number >= 0 else { return nil }
        return number
    }
}

func put(_ number: Int) {
    if number < 0 { host_put(UInt8(ascii: "-")) }
    writeDecimal(UInt32(truncatingIfNeeded: number.magnitude)) { host_put($0) }
    host_put(UInt8(ascii: " "))
}
