internal import CLullCommand
internal import LullCore

/// Writes the input as a trace for `lull simulate` and `lull tune`: `{"at":12.5,"key":"lamp"}`.
///
/// Values are included only on request. Keys can be replaced by hashes, which show which keys are equal and nothing else.
///
/// The file is closed when the program ends.
struct TraceRecording {
    private let name: String
    private let keyRule: KeyRule
    private let hashesKeys: Bool
    private let includesValues: Bool
    private var buffer: OutputBuffer

    /// How many bytes are kept in memory while records keep coming.
    private static let chunkSize = 1 << 16

    /// Creates the file, for its owner alone. It never overwrites one: an earlier recording may be the only one of a day.
    init(_ path: Argument, _ options: CommandOptions) throws(Failure) {
        name = String(cString: path)
        let descriptor = lull_create_new(path)
        if descriptor < 0 {
            if lull_errno() != EEXIST { throw .system(name) }
            throw .inputOutput("\(name) exists already: --record overwrites no file, so give another name")
        }
        buffer = OutputBuffer(descriptor)
        keyRule = options.keyRule
        hashesKeys = options.hashesKeys
        includesValues = options.recordsValues
    }

    /// Appends a record.
    mutating func append(
        _ record: ByteSlice, _ key: Key, wait: CoreDuration?, at instant: CoreInstant
    ) throws(Failure) {
        buffer.bytes.append("{\"at\":")
        DecimalSeconds.append(instant.nanoseconds, to: &buffer.bytes)
        buffer.bytes.append(",\"key\":")
        if hashesKeys { appendHash(of: key) } else { keyRule.append(key, to: &buffer.bytes) }
        if includesValues {
            buffer.bytes.append(",\"value\":")
            JSONText.append(Array(record), to: &buffer.bytes)
        }
        // The description of an infinite duration is a word, which a trace may not have.
        if let wait {
            let text = wait == .infinite ? "\(wait.nanoseconds)ns" : "\(wait)"
            buffer.bytes.append(string: ",\"wait\":\"\(text)\"")
        }
        buffer.bytes.append("}\n")
        if buffer.bytes.count > Self.chunkSize { try write() }
    }

    /// Writes what is in memory.
    mutating func write() throws(Failure) {
        do throws(Failure) { _ = try buffer.drain() } catch { throw error.of(name) }
    }

    /// The hash depends on a random number that is drawn at the start and not stored. Nobody can find out from the trace by trial
    /// whether it contains a given key, nor match its keys with another trace's.
    private mutating func appendHash(of key: Key) {
        var hasher = Hasher()
        hasher.combine(key)
        let digits = String(UInt64(bitPattern: Int64(hasher.finalize())), radix: 16)
        buffer.bytes.append(string: "\"\(String(repeating: "0", count: 16 - digits.count))\(digits)\"")
    }
}
