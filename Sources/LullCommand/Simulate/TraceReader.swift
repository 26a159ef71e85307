internal import CLullSystem
internal import LullCore

/// Reads a recorded trace line by line, and sees to it that time runs forward.
struct TraceReader: ~Copyable {
    /// The trace for messages: its file's name.
    let name: String
    /// The number of bytes in all, where that can be known.
    let size: Int?
    /// The number of bytes that have been read.
    private(set) var position = 0
    /// The instants of the first and of the latest line.
    private(set) var span: (first: CoreInstant, last: CoreInstant)?

    private var records: RecordReader
    private var isAtEnd = false

    /// Opens a file, or takes standard input for `-`.
    init(_ trace: Argument) throws(Failure) {
        let path = String(cString: trace)
        var descriptor = STDIN_FILENO
        if path == "-" {
            name = "standard input"
        } else {
            name = path
            descriptor = lull_open(trace, O_RDONLY)
            if descriptor < 0 { throw .system(path) }
        }
        let length = lull_file_size(descriptor)
        size = length < 0 ? nil : Int(length)
        records = RecordReader(descriptor, terminator: UInt8(ascii: "\n"))
    }

    /// Reads once. To be called when ``next()`` has nothing more.
    ///
    /// - Returns: False at the end of the trace.
    mutating func fill() throws(Failure) -> Bool {
        if isAtEnd { return false }
        do throws(Failure) {
            // The last line may come with the end.
            if case .end = try records.fill() { isAtEnd = true }
        } catch {
            throw Failure(status: error.status, message: "\(name): \(error.message)")
        }
        return true
    }

    /// The next line, good until the next ``fill()``; nil if more must be read first.
    mutating func next() throws(Failure) -> TraceLine? {
        while true {
            switch records.next() {
            case .incomplete: return nil
            case .tooLong: throw bad("it is longer than \(RecordReader.longest >> 20) MiB")
            case .record(let text):
                position += text.count + 1
                if text.allSatisfy(JSONText.isBlank) { continue }
                return try line(text)
            }
        }
    }

    private mutating func line(_ text: ByteSlice) throws(Failure) -> TraceLine {
        let line: TraceLine
        do throws(TraceLine.Fault) { line = try TraceLine(text) } catch { throw bad("\(error)") }
        if let last = span?.last, line.at < last {
            var times: [UInt8] = []
            DecimalSeconds.append(last.nanoseconds, to: &times)
            times.append(" to ")
            DecimalSeconds.append(line.at.nanoseconds, to: &times)
            throw bad("time runs backwards, from \(String(decoding: times, as: UTF8.self))")
        }
        span = (span?.first ?? line.at, line.at)
        return line
    }

    private func bad(_ why: String) -> Failure {
        Failure(status: ExitStatus.badData, message: "\(name), line \(records.number): \(why)")
    }
}
