internal import CLullCommand
internal import LullCore

/// A call of a trace.
struct TraceCall {
    let line: TraceLine
    /// The number of the key; nil for a call on all keys.
    let key: KeyNumber?
}

/// Reads a recorded trace, sees to it that time runs forward, and numbers the keys.
struct TraceReader: ~Copyable {
    /// The trace for messages: its file's name.
    let name: String
    /// The number of bytes in all, where that can be known.
    let size: Int?
    /// The number of bytes that have been read.
    private(set) var position = 0
    /// The instants of the first and of the latest line.
    private(set) var span: (first: CoreInstant, last: CoreInstant)?

    /// The keys that were submitted to, and what is noted of them.
    var keys = KeyTable()
    /// What ``next()`` has read, in order. The values are good until the next ``fill()``.
    private(set) var calls: [TraceCall] = []

    private var records: RecordReader
    private var isAtEnd = false
    /// How the file begins.
    private var head: [UInt8] = []
    /// Lines whose keys are still to be looked up.
    private var lines: [(line: TraceLine, key: KeyTable.Sought)] = []
    /// What is wrong with the line after ``calls``.
    private var fault: Failure?
    /// So many lines are read before their keys are looked up: enough for the memory to have come, few enough for the nearest
    /// cache.
    private static let stride = 32

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
        if head.isEmpty { head = records.unread(upTo: ForeignForm.length) }
        return true
    }

    /// Goes on to the next ``calls``. What is wrong with a line is reported after the calls before it have been given out.
    ///
    /// - Returns: False if more must be read first.
    mutating func next() throws(Failure) -> Bool {
        lines.removeAll(keepingCapacity: true)
        do throws(Failure) {
            if let fault { throw fault }
            while lines.count < Self.stride, let line = try nextLine() {
                let key = KeyTable.Sought(line.key)
                keys.expect(key)
                lines.append((line, key))
            }
        } catch {
            if lines.isEmpty { throw error }
            fault = error
        }
        numberKeys()
        return !lines.isEmpty
    }

    /// Makes calls of the lines. A flush or a cancel of a key that nothing was submitted to is none.
    private mutating func numberKeys() {
        calls.removeAll(keepingCapacity: true)
        for (line, key) in lines {
            if line.operation == .submit {
                calls.append(TraceCall(line: line, key: keys.number(of: key)))
            } else if line.key == nil {
                calls.append(TraceCall(line: line, key: nil))
            } else if let number = keys.existing(key) {
                calls.append(TraceCall(line: line, key: number))
            }
        }
    }

    private mutating func nextLine() throws(Failure) -> TraceLine? {
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
        // What has begun as a trace is one.
        if span == nil, let hint = ForeignForm.hint(head, file: name == "standard input" ? nil : name) {
            return Failure(status: ExitStatus.badData, message: "\(name), line \(records.number): \(hint)")
        }
        return Failure(status: ExitStatus.badData, message: "\(name), line \(records.number): \(why)")
    }
}
