internal import CLullCommand
internal import LullCore

/// The records of standard input with their keys, and the trace that `--record` writes of them.
struct RecordInput: ~Copyable {
    enum Next {
        /// A record with its key, and with its delay if it has one of its own. The bytes are valid until the next
        /// ``fill()``.
        case record(ByteSlice, Key, wait: CoreDuration?)
        /// A bad record under `--strict`: the input ends here.
        case bad
        /// No complete record is left in the buffer: read more.
        case incomplete
    }

    private let keyRule: KeyRule
    private let afterPart: RecordPart?
    /// Whether every record must be JSON, to be merged.
    private let takesJSON: Bool
    private let isStrict: Bool
    var reader: RecordReader
    private var recording: TraceRecording?

    init(_ options: CommandOptions) throws(Failure) {
        var recording: TraceRecording?
        if let path = options.recording { recording = try TraceRecording(path, options) }
        keyRule = options.keyRule
        afterPart = options.afterPart
        takesJSON = options.policy.combination == .mergeJSON
        isStrict = options.isStrict
        reader = RecordReader(STDIN_FILENO, terminator: options.terminator)
        self.recording = recording
    }

    /// Returns the next record that has all it needs. Logs and skips bad records, or returns the first of them under
    /// `--strict`.
    mutating func next(at now: CoreInstant, _ streams: inout StandardStreams) -> Next {
        while true {
            switch reader.next() {
            case .incomplete: return .incomplete
            case .tooLong:
                let limit = "longer than \(RecordReader.longest >> 20) MiB"
                let isEnd = refuse(reader.number, "it is \(limit)", kind: limit, at: now, &streams)
                // Unlike a record without a key, this one was surely meant to get through: its loss shows in the exit
                // status.
                streams.setStatus(ExitStatus.badData)
                if isEnd { return .bad }
            case .record(let record):
                do throws(RecordFault) {
                    if takesJSON { try Self.checkJSON(record) }
                    let key = try keyRule.key(of: record)
                    let wait = try afterPart?.delay(of: record)
                    append(record, key, wait: wait, at: now, &streams)
                    return .record(record, key, wait: wait)
                } catch {
                    if refuse(reader.number, error.reason, kind: error.kind, at: now, &streams) { return .bad }
                }
            }
        }
    }

    private static func checkJSON(_ record: ByteSlice) throws(RecordFault) {
        do throws(JSONScanner.Fault) { _ = try JSONScanner.whole(record) } catch { throw .notJSON(error) }
    }

    /// - Returns: Whether it ends the input, as under `--strict`.
    mutating func refuse(
        _ line: Int, _ why: String, kind: String? = nil, at now: CoreInstant, _ streams: inout StandardStreams
    ) -> Bool {
        streams.refuse(line, why, kind: kind, isStrict: isStrict, at: now)
        if isStrict { streams.status = ExitStatus.badData }
        return isStrict
    }

    // MARK: - Recording

    private mutating func append(
        _ record: ByteSlice, _ key: Key, wait: CoreDuration?, at now: CoreInstant, _ streams: inout StandardStreams
    ) {
        do { try recording?.append(record, key, wait: wait, at: now) } catch { giveUpRecording(error, &streams) }
    }

    /// Writes the part of the recording that is still in memory.
    mutating func writeRecording(_ streams: inout StandardStreams) {
        do { try recording?.write() } catch { giveUpRecording(error, &streams) }
    }

    /// Logs the failure and goes on without the recording.
    private mutating func giveUpRecording(_ failure: Failure, _ streams: inout StandardStreams) {
        streams.fail(failure)
        recording = nil
    }
}

/// Writes the input as a trace for `lull simulate` and `lull tune`: `{"at":12.5,"key":"lamp"}`.
///
/// Values are included only on request. Keys can be replaced by hashes, which show which keys are equal and nothing
/// else.
///
/// The file is closed when the program ends.
struct TraceRecording {
    private let name: String
    private let keyRule: KeyRule
    private let hashesKeys: Bool
    private let includesValues: Bool
    private let takesJSON: Bool
    private var buffer: OutputBuffer

    /// How many bytes are kept in memory while records keep coming.
    private static let chunkSize = 1 << 16

    /// Creates the file, for its owner alone. It never overwrites one: an earlier recording may be the only one of a
    /// day.
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
        takesJSON = options.policy.combination == .mergeJSON
    }

    mutating func append(
        _ record: ByteSlice, _ key: Key, wait: CoreDuration?, at instant: CoreInstant
    ) throws(Failure) {
        buffer.bytes.append("{\"at\":")
        DecimalSeconds.append(instant.nanoseconds, to: &buffer.bytes)
        buffer.bytes.append(",\"key\":")
        if hashesKeys { appendHash(of: key) } else { keyRule.append(key, to: &buffer.bytes) }
        if includesValues {
            buffer.bytes.append(",\"value\":")
            if takesJSON {
                JSONText.append(json: record, to: &buffer.bytes)
            } else {
                JSONText.append(Array(record), to: &buffer.bytes)
            }
        }
        // The description of an infinite duration is a word, which a trace may not have.
        if let wait {
            let text = wait == .infinite ? "\(wait.nanoseconds)ns" : "\(wait)"
            buffer.bytes.append(string: ",\"wait\":\"\(text)\"")
        }
        buffer.bytes.append("}\n")
        if buffer.bytes.count > Self.chunkSize { try write() }
    }

    mutating func write() throws(Failure) {
        do throws(Failure) { _ = try buffer.drain() } catch { throw error.of(name) }
    }

    /// The hash depends on a random number that is drawn at the start and not stored. Nobody can find out from the
    /// trace by trial whether it contains a given key, nor match its keys with another trace's.
    private mutating func appendHash(of key: Key) {
        var hasher = Hasher()
        hasher.combine(key)
        let digits = String(UInt64(bitPattern: Int64(hasher.finalize())), radix: 16)
        buffer.bytes.append(string: "\"\(String(repeating: "0", count: 16 - digits.count))\(digits)\"")
    }
}
