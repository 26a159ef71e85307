public import LullCore

/// When the newest submits of a debouncer or throttler were made: a trace from which `lull tune` chooses a wait.
///
/// ```swift
/// let recording = search.startRecording()
/// // … some days later
/// try Data(recording.trace().utf8).write(to: file)          // lull tune FILE
/// ```
///
/// It keeps instants and keys, in memory, and never a value; delays of single calls, flushes and cancels are not in it.
/// It ends when the recording is released. It costs some 70 ns a submit; without a recording there is no cost.
public final class Recording<Key: Hashable & Sendable>: Sendable {
    private let sizes: @Sendable () -> (count: Int, lost: Int)
    private let entries: @Sendable () -> [(at: Duration, key: Key)]
    private let onEnd: @Sendable () -> Void

    init(
        sizes: @escaping @Sendable () -> (count: Int, lost: Int),
        entries: @escaping @Sendable () -> [(at: Duration, key: Key)], onEnd: @escaping @Sendable () -> Void
    ) {
        self.sizes = sizes
        self.entries = entries
        self.onEnd = onEnd
    }

    deinit {
        onEnd()
    }

    /// How many submits it holds.
    public var count: Int { sizes().count }

    /// How many older submits it has let go, to stay within its limit.
    public var lost: Int { sizes().lost }

    /// The trace, as `lull simulate` and `lull tune` read it: a line of JSON for each submit, ordered by time.
    ///
    /// A line has the seconds since the debouncer was made, and the key's description if there are keys. Takes time and
    /// memory in proportion to ``count``.
    ///
    /// - Parameter hashingKeys: Whether each key is replaced by a number that tells it apart from the others. The number changes
    ///   with each start of the program: nobody can find out by trying whether a key is in a trace, nor compare two.
    public func trace(hashingKeys: Bool = false) -> String {
        var text = ""
        for (at, key) in entries() {
            text += "{\"at\":\(Self.seconds(at))"
            if Key.self != NoKey.self {
                text += ",\"key\":" + (hashingKeys ? Self.hash(of: key) : Self.json("\(key)"))
            }
            text += "}\n"
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

/// The newest submits of a debouncer. To be touched with its lock held, and not otherwise.
@usableFromInline
final class RecordingBuffer<Key: Sendable>: @unchecked Sendable {
    // Proof of @unchecked Sendable: only the runtime touches it, under its lock.
    @usableFromInline typealias Entry = (at: CoreInstant, key: Key)

    @usableFromInline let limit: Int
    @usableFromInline var entries: Chunks<Entry>
    @usableFromInline var lost = 0

    init(limit: Int) {
        self.limit = limit
        entries = Chunks(for: limit)
    }

    /// - Returns: Whether there is something to be released, without the lock.
    @inlinable
    func add(_ key: Key, at instant: CoreInstant) -> Bool {
        entries.append((instant, key))
        if entries.count > limit {
            entries.removeFirst()
            lost += 1
        }
        return !entries.usedUp.isEmpty
    }
}

extension Coalescer {
    /// Records when, and under which keys, values are submitted from now on, for as long as the recording is held: to
    /// choose the wait with `lull tune`.
    ///
    /// - Parameter limit: How many submits are kept, the newest ones; at least one. Each takes eight bytes and the key.
    ///   Up to 1,024 keys more are held for a while.
    public func startRecording(limit: Int = 100_000) -> Recording<Key> {
        let buffer = RecordingBuffer<Key>(limit: max(limit, 1))
        runtime.record(in: buffer)
        return Recording { [runtime] in
            runtime.lock.withLock { (buffer.entries.count, buffer.lost) }
        } entries: { [runtime] in
            // The copy shares its chunks: the submits that come meanwhile have to copy the last of them at most.
            let entries = runtime.lock.withLock { buffer.entries }
            return entries.all.map { (Duration(runtime.origin.duration(to: $0.at)), $0.key) }
        } onEnd: { [weak runtime] in
            runtime?.stopRecording(in: buffer)
        }
    }
}
