/// The key type of a debouncer or throttler without keys, in its events and recordings. No call takes one.
@frozen
public struct NoKey: Hashable, Sendable {
    @inlinable
    init() {}
}

/// Returns what a message calls a key.
@usableFromInline
func describe(_ key: some Any, of value: Any.Type) -> String {
    key is NoKey ? "the only key, of values of type \(value)" : "key \(key)"
}
