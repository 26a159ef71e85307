internal import LullCore

/// The instants and keys of the newest submits and touches of a debouncer or throttler: a trace for `lull tune`, which
/// suggests a wait.
///
/// ```swift
/// let recording = search.startRecording()
/// // … some days later
/// try Data(recording.trace().utf8).write(to: file)          // lull tune FILE
/// ```
///
/// It keeps instants and keys in memory, and no values; delays of single calls, flushes and cancels are not recorded.
/// It holds nothing else of its debouncer, and can be read when that is gone. It ends when it is released. It costs
/// some 400 ns per submit; without a recording there is no cost.
public final class Recording<Key: Hashable & Sendable>: Sendable {
    private let buffer: RecordingBuffer<Key>
    /// When the debouncer was created.
    private let origin: CoreInstant
    private let onEnd: @Sendable () -> Void

    init(_ buffer: RecordingBuffer<Key>, since origin: CoreInstant, onEnd: @escaping @Sendable () -> Void) {
        self.buffer = buffer
        self.origin = origin
        self.onEnd = onEnd
    }

    deinit {
        onEnd()
    }

    /// The number of submits and touches that it holds.
    public var count: Int { buffer.count }

    /// The number of older ones that it has dropped, to stay within its limit.
    public var lost: Int { buffer.lost }

    /// Returns the trace in the format of `lull simulate` and `lull tune`: a line of JSON for each submit or touch, in
    /// order of time.
    ///
    /// A line has the seconds since the debouncer was created, and the key's description if there are keys. Takes time
    /// and memory in proportion to ``count``.
    ///
    /// - Parameter hashingKeys: Whether each key is replaced by a number that identifies it within the trace. The
    ///   numbers change with each start of the program: a trace does not reveal whether a given key is in it, and two
    ///   traces cannot be compared.
    public func trace(hashingKeys: Bool = false) -> String {
        var text = ""
        buffer.forEach { at, key, isTouch in
            text += "{\"at\":\(Self.seconds(Duration(origin.duration(to: at))))"
            if Key.self != NoKey.self {
                text += ",\"key\":" + (hashingKeys ? Self.hash(of: key) : Self.json("\(key)"))
            }
            text += isTouch ? ",\"op\":\"touch\"}\n" : "}\n"
        }
        return text
    }

    /// Decimal seconds, to the nanosecond.
    private static func seconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let digits = String(attoseconds / 1_000_000_000 + 1_000_000_000).dropFirst()
        return "\(seconds).\(digits)"
    }

    private static func hash(of key: Key) -> String {
        var hasher = Hasher()
        hasher.combine(key)
        let digits = String(UInt(bitPattern: hasher.finalize()), radix: 16)
        return "\"\(String(repeating: "0", count: 16 - digits.count))\(digits)\""
    }

    private static func json(_ text: String) -> String {
        var json = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": json += "\\\(scalar)"
            case "\u{0}"..<" ":
                let digits = String(scalar.value, radix: 16)
                json += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: json.unicodeScalars.append(scalar)
            }
        }
        return json + "\""
    }
}

extension Coalescer {
    /// Records the instants and keys of submits from now on, until the recording is released: for choosing the wait
    /// with `lull tune`.
    ///
    /// - Parameter limit: The number of submits and touches that are kept, the newest ones; at least one. Each takes 16
    ///   bytes and the key. Up to 1,024 more keys are held for a while.
    public func startRecording(limit: Int = 100_000) -> Recording<Key> {
        let buffer = RecordingBuffer<Key>(limit: max(limit, 1))
        runtime.startRecording(in: buffer)
        return Recording(buffer, since: runtime.origin) { [weak runtime] in
            runtime?.stopRecording(in: buffer)
        }
    }
}
