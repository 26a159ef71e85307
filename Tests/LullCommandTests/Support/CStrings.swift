import CLullCommand

/// Makes arrays of strings for the C library.
enum CStrings {
    /// Calls `body` with pointers to null-terminated copies, which are valid during the call.
    static func with<Result>(_ strings: [[UInt8]], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result) -> Result {
        var bytes: [CChar] = []
        bytes.reserveCapacity(strings.reduce(0) { $0 + $1.count + 1 })
        var offsets: [Int] = []
        for string in strings {
            offsets.append(bytes.count)
            bytes += string.lazy.map { CChar(bitPattern: $0) }
            bytes.append(0)
        }
        return bytes.withUnsafeMutableBufferPointer { buffer in
            body(offsets.map { offset in buffer.baseAddress.map { $0 + offset } })
        }
    }
}
