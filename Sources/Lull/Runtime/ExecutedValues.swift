internal import LullCore

/// The values that keys have executed last, and of which nothing has started since: an execution with an equal value is
/// left out (<doc:Semantics>, section 7).
final class ExecutedValues<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
    /// The number of keys that are remembered at least, and half of the greatest number. Those that have not started
    /// for longest are forgotten first.
    static var capacity: Int { 10_000 }

    private struct Entry {
        /// The number of the latest start of the key.
        let start: UInt64
        /// Nil until that has been executed.
        var value: Value?
    }

    // Proof of @unchecked Sendable: the fields that vary are only touched while `lock` is held.
    private let lock = Lock()
    private var entries: [Key: Entry] = [:]
    private var startCount: UInt64 = 0
    private let isDuplicate: @Sendable (Value, Value) -> Bool

    init(_ isDuplicate: @escaping @Sendable (Value, Value) -> Bool) { self.isDuplicate = isDuplicate }

    /// Notes that an execution starts, which forgets what its key has executed; unless its value equals that.
    ///
    /// - Returns: The number of the start; nil if the execution is to be left out.
    func start(_ key: Key, _ value: Value) -> UInt64? {
        // The comparison is the user's code.
        if let latest = lock.withLock({ entries[key]?.value }), isDuplicate(latest, value) { return nil }
        var released: [Key: Entry] = [:]
        var old: Entry?
        let number = lock.withLock {
            startCount += 1
            old = entries.updateValue(Entry(start: startCount), forKey: key)
            if entries.count > 2 * Self.capacity { forgetOlderHalf(&released) }
            return startCount
        }
        // What is forgotten is released without the lock.
        withExtendedLifetime((old, released)) {}
        return number
    }

    /// Remembers a value that has been executed, unless its key has started again since.
    func executed(_ key: Key, _ value: Value, start number: UInt64) {
        lock.withLock { if entries[key]?.start == number { entries[key]?.value = value } }
    }

    /// Forgets the keys whose latest starts are older than those of the others.
    private func forgetOlderHalf(_ released: inout [Key: Entry]) {
        // The number of a start that half of them are older than; to sort them would be 4 kB of every program.
        var (older, newer) = (UInt64(0), startCount)
        while older + 1 < newer {
            let middle = (older + newer) / 2
            var count = 0
            for entry in entries.values where entry.start > middle { count += 1 }
            if count > Self.capacity { older = middle } else { newer = middle }
        }
        released = entries
        entries = entries.filter { $0.value.start > newer }
    }
}
