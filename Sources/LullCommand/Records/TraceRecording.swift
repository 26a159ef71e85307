internal import CLullCommand
internal import LullCore

/// Writes down what comes in, as a trace for `lull simulate` and `lull tune`: `{"at":12.5,"key":"lamp"}`.
///
/// Values are left out unless they are asked for; keys can be replaced by numbers that tell them apart and nothing else.
///
/// The file is closed when the program ends.
struct TraceRecording {
    private let name: String
    private let keyRule: KeyRule
    private let hashesKeys: Bool
    private let keepsValues: Bool
    private var outlet: Outlet

    /// As much as is held back while records keep coming.
    private static let stride = 1 << 16

    /// Creates the file. A recording that is there already may be all that is left of a day: it is never overwritten.
    init(_ path: Argument, _ settings: Settings) throws(Failure) {
        name = String(cString: path)
        let descriptor = lull_create_new(path)
        if descriptor < 0 {
            if lull_errno() != EEXIST { throw .system(name) }
            throw Failure(
                status: ExitStatus.inputOutput,
                message: "\(name) is there already: --record overwrites nothing, give it another name")
        }
        outlet = Outlet(descriptor)
        keyRule = settings.keyRule
        hashesKeys = settings.hashesKeys
        keepsValues = settings.recordsValues
    }

    /// Notes a record.
    mutating func note(_ record: ByteSlice, _ key: Key, at instant: CoreInstant) throws(Failure) {
        outlet.text.append("{\"at\":")
        DecimalSeconds.append(instant.nanoseconds, to: &outlet.text)
        outlet.text.append(",\"key\":")
        if hashesKeys { appendHash(of: key) } else { keyRule.append(key, to: &outlet.text) }
        if keepsValues {
            outlet.text.append(",\"value\":")
            JSONText.append(Array(record), to: &outlet.text)
        }
        outlet.text.append("}\n")
        if outlet.text.count > Self.stride { try write() }
    }

    /// Writes what was held back.
    mutating func write() throws(Failure) {
        do throws(Failure) {
            _ = try outlet.drain()
        } catch {
            throw Failure(status: error.status, message: "\(name): \(error.message)")
        }
    }

    /// The hash depends on a number that is drawn at the start of the program and kept nowhere: who has the trace cannot
    /// find out by trying whether a key is in it, nor compare it with another trace.
    private mutating func appendHash(of key: Key) {
        var hasher = Hasher()
        hasher.combine(key)
        let digits = String(UInt64(bitPattern: Int64(hasher.finalize())), radix: 16)
        outlet.text.append(string: "\"\(String(repeating: "0", count: 16 - digits.count))\(digits)\"")
    }
}
