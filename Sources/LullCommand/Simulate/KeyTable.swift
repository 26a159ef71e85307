internal import LullCore

/// The keys of a trace, numbered in the order in which they come, and what is to be known of each.
struct KeyTable {
    /// One key.
    struct Entry {
        /// Canonical JSON.
        let text: [UInt8]
        /// The instant of its latest submit.
        var latest = CoreInstant.origin
        /// Whether something is pending.
        var isPending = false
    }

    private(set) var entries: [Entry] = []
    private var numbers: [Key: UInt32] = [:]
    /// The text of the key that was looked up last: traces come in bursts.
    private var recentText: [UInt8] = []
    private var recent: UInt32?
    private static let null = Array("null".utf8)

    /// The number of keys that have something pending.
    private(set) var pendingCount = 0

    /// The number of a key, a new one if need be.
    mutating func number(of key: ByteSlice?) -> UInt32 {
        if let recent, let key, recentText.withUnsafeBufferPointer({ $0.isEqual(to: key) }) { return recent }
        let canonical = Key(bytes: key.map(JSONText.canonical) ?? Self.null)
        let number = numbers[canonical] ?? add(canonical)
        if let key {
            recentText.removeAll(keepingCapacity: true)
            recentText.append(contentsOf: key)
            recent = number
        }
        return number
    }

    /// The number of a key that has one.
    func existing(_ key: ByteSlice) -> UInt32? {
        numbers[Key(bytes: JSONText.canonical(key))]
    }

    private mutating func add(_ key: Key) -> UInt32 {
        let number = UInt32(entries.count)
        entries.append(Entry(text: key.bytes))
        numbers[key] = number
        return number
    }

    subscript(number: UInt32) -> Entry { entries[Int(number)] }

    mutating func submitted(_ number: UInt32, at instant: CoreInstant) {
        entries[Int(number)].latest = instant
    }

    mutating func setPending(_ number: UInt32, _ isPending: Bool) {
        guard entries[Int(number)].isPending != isPending else { return }
        entries[Int(number)].isPending = isPending
        pendingCount += isPending ? 1 : -1
    }

    mutating func clearPending() {
        for number in entries.indices { entries[number].isPending = false }
        pendingCount = 0
    }
}
