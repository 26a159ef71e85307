internal import CLullCommand
internal import LullCore

/// The number of a key, counted from 0.
struct KeyNumber: Hashable {
    let value: UInt32

    /// A multiplicative hash spreads consecutive numbers: next to each other in an index, they would make removals
    /// slow.
    var hashValue: Int { Int(value &* 0x9E37_79B9) }

    func hash(into hasher: inout Hasher) {
        hasher.combine(value)
    }
}

/// The keys of a trace, numbered in order of appearance, and the state of each.
///
/// A lookup compares the bytes of the line; only a new key is copied. A `Dictionary` would need a key object for
/// each lookup, and could not be prefetched. The benchmark rows "lull simulate" look up a key for each record.
struct KeyTable: ~Copyable {
    struct Entry {
        /// The range of its canonical JSON in `texts`.
        let text: Range<Int>
        /// The instant of its latest submit.
        var latest = CoreInstant.origin
        var isPending = false
    }

    private(set) var entries: [Entry] = []
    /// The canonical JSON of all keys, concatenated.
    private var texts: [UInt8] = []
    private(set) var pendingCount = 0

    /// A hash table with open addressing. A slot has the key's hash in the upper half and its number plus one in the
    /// lower half; an empty slot is zero.
    private var index = [UInt64](repeating: 0, count: 16)

    subscript(number: KeyNumber) -> Entry { entries[Int(number.value)] }

    /// Calls `body` with the canonical JSON of a key.
    func withText<Result>(of number: KeyNumber, _ body: (ByteSlice) -> Result) -> Result {
        texts.withUnsafeBufferPointer { body($0.part(self[number].text)) }
    }

    func text(of number: Int) -> [UInt8] {
        withText(of: KeyNumber(value: UInt32(number))) { Array($0) }
    }

    // MARK: - Looking up

    /// A key to look up, with its hash.
    ///
    /// A caller with many keys hashes them first and prefetches the slot of each: the memory for one key then arrives
    /// while the next is hashed. With 10,000 keys, waiting for that memory took a seventh of a simulation.
    struct Lookup {
        /// The JSON text; nil for a missing key, which equals `null`.
        private let text: ByteSlice?
        /// Whether the text is known to be canonical: a number, or a string without escapes.
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

    /// Prefetches the slot at which the search for a key starts.
    func prefetch(_ key: Lookup) {
        index.withUnsafeBufferPointer { index in
            if let start = index.baseAddress { lull_prefetch(start + (Int(key.hash) & (index.count - 1))) }
        }
    }

    /// Returns the number of a key, and adds the key if it is new.
    mutating func number(of key: Lookup) -> KeyNumber {
        key.withCanonical { text in
            let slot = slot(of: text, key.hash)
            if index[slot] != 0 { return Self.number(in: index[slot]) }
            entries.append(Entry(text: texts.count..<texts.count + text.count))
            texts.append(contentsOf: text)
            index[slot] = UInt64(key.hash) << 32 | UInt64(entries.count)
            if entries.count * 2 > index.count { grow() }
            return KeyNumber(value: UInt32(entries.count - 1))
        }
    }

    /// Returns the number of a key, or nil if it is new.
    func existing(_ key: Lookup) -> KeyNumber? {
        key.withCanonical { text in
            let slot = index[slot(of: text, key.hash)]
            return slot == 0 ? nil : Self.number(in: slot)
        }
    }

    private static func number(in slot: UInt64) -> KeyNumber {
        KeyNumber(value: UInt32(truncatingIfNeeded: slot) - 1)
    }

    /// Returns the index of a key's slot, or of the empty slot for it.
    private func slot(of text: ByteSlice, _ hash: UInt32) -> Int {
        var slot = Int(hash) & (index.count - 1)
        while index[slot] != 0 {
            if index[slot] >> 32 == hash,
                withText(of: Self.number(in: index[slot]), { $0.isEqual(to: text) })
            {
                break
            }
            slot = (slot + 1) & (index.count - 1)
        }
        return slot
    }

    private mutating func grow() {
        let old = index
        index = Array(repeating: 0, count: old.count * 2)
        for entry in old where entry != 0 {
            var slot = Int(entry >> 32) & (index.count - 1)
            while index[slot] != 0 { slot = (slot + 1) & (index.count - 1) }
            index[slot] = entry
        }
    }

    // MARK: - State

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
