internal import LullCore

/// The values that keys have executed last, and of which nothing has started since: an execution with an equal value is
/// left out (<doc:Semantics>, section 7).
final class ExecutedValues<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
    /// The greatest number of keys that are remembered. Those that have not started for longest are forgotten first.
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
        let (number, released) = lock.withLock { () -> (UInt64, [Key: Entry]) in
            startCount += 1
            var released: [Key: Entry] = [:]
            if let old = entries.updateValue(Entry(start: startCount), forKey: key) { released[key] = old }
            if entries.count > Self.capacity { forgetOlderHalf(&released) }
            return (startCount, released)
        }
        withExtendedLifetime(released) {}
        return number
    }

    /// Remembers a value that has been executed, unless its key has started again since.
    func executed(_ key: Key, _ value: Value, start number: UInt64) {
        lock.withLock { if entries[key]?.start == number { entries[key]?.value = value } }
    }

    private func forgetOlderHalf(_ released: inout [Key: Entry]) {
        let middle = entries.values.map { $0.start }.sorted()[entries.count / 2]
        let all = entries
        entries = all.filter { $0.value.start >= middle }
        released.merge(all) { old, _ in old }
    }
}
