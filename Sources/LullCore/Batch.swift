/// The values that an execution handles: one, or with ``CombinationRule/collect`` all of them in order.
@frozen
package struct Batch<Value> {
    /// The only value, or the last one.
    package var value: Value
    /// The values before it. Empty costs no allocation.
    package var earlier: [Value]

    /// Creates a batch of one value.
    package init(_ value: Value) {
        self.value = value
        earlier = []
    }

    /// Creates a batch of values, of which there must be one.
    package init(all values: [Value]) {
        var earlier = values
        value = earlier.removeLast()
        self.earlier = earlier
    }

    /// The number of values.
    package var size: Int { earlier.count + 1 }

    /// All values, in the order in which they were submitted.
    package var values: [Value] { earlier.isEmpty ? [value] : earlier + [value] }

    /// Adds a value, and returns the one that it displaces, if any.
    @inline(__always)
    package mutating func add(_ other: consuming Value, by combination: CombinationRule) -> Value? {
        switch combination {
        case .latest:
            let old = value
            value = other
            return old
        case .first:
            return other
        case .collect:
            append(other)
            return nil
        }
    }

    /// Adds a value behind the others.
    @inline(__always)
    mutating func append(_ other: consuming Value) {
        earlier.append(value)
        value = other
    }

    /// Adds the values of a later batch behind the others.
    mutating func append(_ later: Batch) {
        earlier.append(value)
        earlier.append(contentsOf: later.earlier)
        value = later.value
    }

    /// Adds the values of a later execution, and returns those that are displaced, if any.
    package mutating func add(_ later: Batch, by combination: CombinationRule) -> Batch? {
        switch combination {
        case .latest:
            let old = self
            self = later
            return old
        case .first:
            return later
        case .collect:
            append(later)
            return nil
        }
    }
}

extension Batch: Equatable where Value: Equatable {}
extension Batch: Hashable where Value: Hashable {}
extension Batch: Sendable where Value: Sendable {}
