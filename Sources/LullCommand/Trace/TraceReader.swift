internal import CLullCommand
internal import LullCore

struct TraceCall {
    let line: TraceLine
    /// The number of the key; nil for a call on all keys.
    let key: KeyNumber?
}

/// Reads a recorded trace, checks that time does not run backwards, and numbers the keys.
struct TraceReader: ~Copyable {
    /// The name of the file, for messages.
    let name: String
    /// The size in bytes, if known.
    let size: Int?
    /// The number of bytes read so far.
    private(set) var position = 0
    /// The instants of the first and latest line.
    private(set) var span: (first: CoreInstant, last: CoreInstant)?

    /// The keys that have been submitted to.
    var keys = KeyTable()
    /// The calls that ``next()`` has read, in order. Their values are valid until the next ``fill()``.
    private(set) var calls: [TraceCall] = []

    private var records: RecordReader
    private var isAtEnd = false
    /// The start of the file.
    private var head: [UInt8] = []
    /// Lines whose keys have been hashed but not looked up.
    private var lines: [(line: TraceLine, key: KeyTable.Lookup)] = []
    /// The fault in the line after ``calls``.
    private var fault: Failure?
    /// How many lines are read before their keys are looked up: enough for prefetches to complete, few enough for the
    /// L1 cache.
    private static let batchSize = 32

    /// Opens a file, or standard input for `-`.
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

    /// Reads once. Call it when ``next()`` has returned false.
    ///
    /// - Returns: False at the end of the trace.
    mutating func fill() throws(Failure) -> Bool {
        if isAtEnd { return false }
        do throws(Failure) {
            // The last line may lack a newline, so ``next()`` still has to be called.
            isAtEnd = try !records.fill()
        } catch {
            throw error.of(name)
        }
        if head.isEmpty { head = records.unread(upTo: ForeignFormat.length) }
        return true
    }

    /// Advances to the next ``calls``. Throws for a bad line only after the calls before it have been returned.
    ///
    /// - Returns: False if more must be read first.
    mutating func next() throws(Failure) -> Bool {
        lines.removeAll(keepingCapacity: true)
        do throws(Failure) {
            if let fault { throw fault }
            while lines.count < Self.batchSize, let line = try nextLine() {
                let key = KeyTable.Lookup(line.key)
                keys.prefetch(key)
                lines.append((line, key))
            }
        } catch {
            if lines.isEmpty { throw error }
            fault = error
        }
        numberKeys()
        return !lines.isEmpty
    }

    /// Looks up the keys of the lines. Another call on a key that nothing was submitted to is ignored. No key is `null`
    /// for a submit and a touch, and stands for all keys otherwise.
    private mutating func numberKeys() {
        calls.removeAll(keepingCapacity: true)
        for (line, key) in lines {
            if line.operation == .submit {
                calls.append(TraceCall(line: line, key: keys.number(of: key)))
            } else if line.key == nil, line.operation != .touch {
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
        do throws(Refusal) { line = try TraceLine(text) } catch { throw bad(error.reason) }
        if let last = span?.last, line.at < last {
            throw bad("time runs backwards, from \(DecimalSeconds.text(last)) to \(DecimalSeconds.text(line.at))")
        }
        span = (span?.first ?? line.at, line.at)
        return line
    }

    private func bad(_ why: String) -> Failure {
        // Only a file that is wrong from its first line may be in another format.
        let hint = span == nil ? ForeignFormat.hint(head, file: name == "standard input" ? nil : name) : nil
        return .badData("\(name), line \(records.number): \(hint ?? why)")
    }
}
