internal import CLullCommand
internal import LullCore

/// The number of a key, counted from 0.
struct KeyNumber: Hashable {
    let value: UInt32

    /// Spreads numbers in sequence: side by side in an index, they would be in each other's way when they leave.
    var hashValue: Int { Int(value &* 0x9E37_79B9) }

    func hash(into hasher: inout Hasher) {
        hasher.combine(value)
    }
}

/// The keys of a trace, numbered in the order in which they come, and what is to be known of each.
///
/// A key is looked up by its bytes as they stand in the line: only a new one is copied.
struct KeyTable: ~Copyable {
    /// One key.
    struct Entry {
        /// Where its canonical JSON lies.
        let text: Range<Int>
        /// The instant of its latest submit.
        var latest = CoreInstant.origin
        /// Whether something is pending.
        var isPending = false
    }

    private(set) var entries: [Entry] = []
    /// The canonical JSON of all keys, one after the other.
    private var texts: [UInt8] = []
    /// The number of keys that have something pending.
    private(set) var pendingCount = 0

    /// Open addressing: the upper half of a place is the key's hash, the lower half its number plus one; zero is empty.
    private var index = [UInt64](repeating: 0, count: 16)

    subscript(number: KeyNumber) -> Entry { entries[Int(number.value)] }

    /// Calls `body` with the canonical JSON of a key.
    func withText<Result>(of number: KeyNumber, _ body: (ByteSlice) -> Result) -> Result {
        texts.withUnsafeBufferPointer { body($0.part(self[number].text)) }
    }

    /// The canonical JSON of the key with a number, by itself.
    func text(of number: Int) -> [UInt8] {
        withText(of: KeyNumber(value: UInt32(number))) { Array($0) }
    }

    // MARK: - Finding

    /// A key that is to be looked up, and its hash.
    ///
    /// Who has many to look up hashes them first, and says of each that it is to be expected: then the memory for one comes
    /// while another is hashed. With 10,000 keys the waiting had been a seventh of a simulation.
    struct Sought {
        /// The JSON text; nil for none, which is the same as `null`.
        private let text: ByteSlice?
        /// Whether the text is canonical as it stands, as numbers are, and strings without escapes.
        private let isCanonical: Bool
        fileprivate private(set) var hash: UInt32 = 0

        init(_ text: ByteSlice?) {
            self.text = text
            switch text?[0] {
            case nil: isCanonical = false
            case UInt8(ascii: "\""): isCanonical = text?.contains(UInt8(ascii: "\\")) == false
            case let first?: isCanonical = first < UInt8(ascii: "A")
            }
            var hasher = Hasher()
            withCanonical { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
            hash = UInt32(truncatingIfNeeded: hasher.finalize())
        }

        fileprivate func withCanonical<Result>(_ body: (ByteSlice) -> Result) -> Result {
            guard let text else { return Self.null.withUnsafeBufferPointer(body) }
            return isCanonical ? body(text) : JSONText.canonical(text).withUnsafeBufferPointer(body)
        }

        private static let null = Array("null".utf8)
    }

    /// Asks for the memory in which the search for a key will begin, and does not wait for it.
    func expect(_ key: Sought) {
        index.withUnsafeBufferPointer { index in
            if let start = index.baseAddress { lull_prefetch(start + (Int(key.hash) & (index.count - 1))) }
        }
    }

    /// The number of a key, a new one if need be.
    mutating func number(of key: Sought) -> KeyNumber {
        key.withCanonical { text in
            let place = place(of: text, key.hash)
            if index[place] != 0 { return Self.number(at: index[place]) }
            entries.append(Entry(text: texts.count..<texts.count + text.count))
            texts.append(contentsOf: text)
            index[place] = UInt64(key.hash) << 32 | UInt64(entries.count)
            if entries.count * 2 > index.count { grow() }
            return KeyNumber(value: UInt32(entries.count - 1))
        }
    }

    /// The number of a key that has one.
    func existing(_ key: Sought) -> KeyNumber? {
        key.withCanonical { text in
            let entry = index[place(of: text, key.hash)]
            return entry == 0 ? nil : Self.number(at: entry)
        }
    }

    private static func number(at place: UInt64) -> KeyNumber {
        KeyNumber(value: UInt32(truncatingIfNeeded: place) - 1)
    }

    /// Where in the index a key is, or is to be.
    private func place(of text: ByteSlice, _ hash: UInt32) -> Int {
        var place = Int(hash) & (index.count - 1)
        while index[place] != 0 {
            if index[place] >> 32 == hash,
                withText(of: Self.number(at: index[place]), { $0.isEqual(to: text) })
            {
                break
            }
            place = (place + 1) & (index.count - 1)
        }
        return place
    }

    private mutating func grow() {
        let old = index
        index = Array(repeating: 0, count: old.count * 2)
        for entry in old where entry != 0 {
            var place = Int(entry >> 32) & (index.count - 1)
            while index[place] != 0 { place = (place + 1) & (index.count - 1) }
            index[place] = entry
        }
    }

    // MARK: - Noting

    mutating func submitted(_ number: KeyNumber, at instant: CoreInstant) {
        entries[Int(number.value)].latest = instant
    }

    mutating func setPending(_ number: KeyNumber, _ isPending: Bool) {
        guard entries[Int(number.value)].isPending != isPending else { return }
        entries[Int(number.value)].isPending = isPending
        pendingCount += isPending ? 1 : -1
    }

    mutating func clearPending() {
        for number in entries.indices { entries[number].isPending = false }
        pendingCount = 0
    }
}
