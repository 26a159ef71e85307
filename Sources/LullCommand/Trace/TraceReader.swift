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

/// One line of a trace: `{"at":12.5,"key":"lamp","value":7}`, with optional `"op"` and `"wait"`.
struct TraceLine {
    enum Operation: String {
        case submit
        case flush
        case cancel
        case touch
    }

    private(set) var at = CoreInstant.origin
    private(set) var operation = Operation.submit
    /// The JSON text of the key; nil for none and for `null`, which are equal.
    private(set) var key: ByteSlice?
    /// The JSON text of the value, unchanged.
    private(set) var value: ByteSlice?
    /// The delay of this call alone.
    private(set) var wait: CoreDuration?

    init(_ line: ByteSlice) throws(Refusal) {
        var at: ByteSlice?
        var operation: ByteSlice?
        var wait: ByteSlice?
        do throws(JSONScanner.Fault) {
            var scanner = JSONScanner(line)
            try scanner.open("{", orThrow: .expectedObject)
            var isFirst = true
            while let name = try scanner.nextMember(&isFirst) {
                let member = line.part(try scanner.value())
                // No other JSON value starts with this letter.
                let isNull = member[0] == UInt8(ascii: "n")
                func set(_ name: ByteSlice) {
                    if name.isEqual(to: "at") {
                        at = member
                    } else if name.isEqual(to: "key") {
                        key = isNull ? nil : member
                    } else if name.isEqual(to: "value") {
                        value = member
                    } else if name.isEqual(to: "op") {
                        operation = isNull ? nil : member
                    } else if name.isEqual(to: "wait") {
                        wait = isNull ? nil : member
                    }
                }
                let content = line.part(name.content)
                if name.hasEscapes { JSONText.content(content).withUnsafeBufferPointer(set) } else { set(content) }
            }
            try scanner.end()
        } catch {
            throw Refusal(reason: "not a JSON object: \(error)")
        }
        guard let at else { throw Refusal(reason: "\"at\" is missing") }
        self.at = try Self.instant(at)
        if let operation { self.operation = try Self.operation(operation) }
        if let wait { self.wait = try Self.wait(wait) }
    }

    private static func instant(_ text: ByteSlice) throws(Refusal) -> CoreInstant {
        var instant: CoreInstant?
        switch text[0] {
        case UInt8(ascii: "\""):
            // No valid time is written with escapes.
            do throws(Timestamp.Fault) {
                instant = try Timestamp.parse(text.part(1..<text.count - 1))
            } catch {
                if error == .noTime { throw wrongTime(text) }
            }
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): instant = DecimalSeconds.parse(text)
        default: throw wrongTime(text)
        }
        // The last one means "never".
        if let instant, instant != .farFuture { return instant }
        throw Refusal(reason: "\"at\" is more than 292 years away from its origin: \(text.shown)")
    }

    private static func wrongTime(_ text: ByteSlice) -> Refusal {
        Refusal(reason: "\"at\" must be a number of seconds or an RFC 3339 time, not \(text.shown)")
    }

    private static func operation(_ text: ByteSlice) throws(Refusal) -> Operation {
        if let operation = JSONText.string(text).flatMap(Operation.init) { return operation }
        throw Refusal(reason: "\"op\" must be \"submit\", \"touch\", \"flush\" or \"cancel\", not \(text.shown)")
    }

    private static func wait(_ text: ByteSlice) throws(Refusal) -> CoreDuration {
        guard let content = JSONText.string(text) else {
            throw Refusal(reason: "\"wait\" must be a string such as \"500ms\", not \(text.shown)")
        }
        do throws(Refusal) {
            return try DurationText.read(content)
        } catch {
            throw Refusal(reason: "\"wait\": \(error.reason)")
        }
    }
}

/// Recognises files that are mistaken for traces, and tells how to convert them.
enum ForeignFormat {
    /// The number of bytes at the start of a file that are enough to recognise it.
    static let length = 256

    /// Returns what a file with this start is, and how to make a trace of it; nil if it is not recognised.
    ///
    /// - Parameter name: The name of the file, for the hint; nil for standard input.
    static func hint(_ head: [UInt8], file name: String?) -> String? {
        // A long name would leave no room for the hint.
        let file = name.flatMap { Terminal.columns(of: $0) <= 30 ? $0 : nil } ?? "FILE"
        func compressed(_ what: String, _ tool: String) -> String {
            "it is compressed with \(what): \(tool) \(file) | lull … -"
        }
        switch head {
        case _ where head.starts(with: [0x1F, 0x8B]): return compressed("gzip", "gzip -dc")
        case _ where head.starts(with: [0x28, 0xB5, 0x2F, 0xFD]): return compressed("zstd", "zstd -dc")
        case _ where head.starts(with: [0xFD, 0x37, 0x7A, 0x58, 0x5A]): return compressed("xz", "xz -dc")
        case _ where head.starts(with: Array("BZh".utf8)): return compressed("bzip2", "bzip2 -dc")
        case _ where head.starts(with: Array("PK\u{3}\u{4}".utf8)): return compressed("zip", "unzip -p")
        case _ where head.starts(with: [0xEF, 0xBB, 0xBF]):
            return "it begins with a byte order mark: tail -c +4 \(file) | lull … -"
        case _ where isUTF16(head): return "it is UTF-16: iconv -f UTF-16 -t UTF-8 \(file) | lull … -"
        case _ where head.first { !JSONText.isBlank($0) } == UInt8(ascii: "["):
            return "it is a JSON array, but a trace has an object on each line: jq -c '.[]' \(file) | lull … -"
        case _ where looksLikeColumns(head):
            return "it looks like CSV, but a trace has a JSON object on each line, such as "
                + #"{"at":12.5,"key":"lamp"}"#
        default: return nil
        }
    }

    /// Returns whether text is UTF-16: it has a byte order mark, or every other byte is zero.
    private static func isUTF16(_ head: [UInt8]) -> Bool {
        if head.starts(with: [0xFF, 0xFE]) || head.starts(with: [0xFE, 0xFF]) { return true }
        guard head.count >= 4 else { return false }
        return (head[0] == 0) != (head[1] == 0) && (head[0] == 0) == (head[2] == 0) && (head[1] == 0) == (head[3] == 0)
    }

    /// Returns whether all lines have the same number of fields, and look like neither JSON nor a program.
    private static func looksLikeColumns(_ head: [UInt8]) -> Bool {
        var lines = head.split(separator: UInt8(ascii: "\n")).map { $0.filter { $0 != UInt8(ascii: "\r") } }
        // The last line may continue beyond these bytes.
        if head.count >= length, lines.count > 1 { lines.removeLast() }
        guard let first = lines.first, first.first != UInt8(ascii: "{") else { return false }
        return "\t,;".utf8.contains { separator in
            let counts = lines.map { line in line.count { $0 == separator } }
            let fields = first.split(separator: separator, omittingEmptySubsequences: false)
            return counts[0] > 0 && counts.allSatisfy { $0 == counts[0] } && fields.allSatisfy(isField)
        }
    }

    /// Returns whether text may be a field: unlike a part of a sentence or program, it has no leading blank and no
    /// brackets.
    private static func isField(_ field: ArraySlice<UInt8>) -> Bool {
        if field.first == UInt8(ascii: "\"") { return true }
        return field.first != UInt8(ascii: " ") && !field.contains { "(){}[]=".utf8.contains($0) }
    }
}
