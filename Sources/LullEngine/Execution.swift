package import LullCore

/// One run of the handler for one key, as the engine asks for it.
@frozen
package struct Execution<Key, Value> {
    /// Identifies the execution when its end is reported with ``Engine/ended(_:_:telling:at:)``.
    package let run: RunID
    /// The key of the value.
    package let key: Key
    /// The value, or the values in order.
    package let batch: Batch<Value>
    /// The number of submits behind it.
    package var count: Int
    /// Why the value fell due.
    package let cause: Cause
    /// The instant at which it was due.
    package let at: CoreInstant
    /// The instant of the oldest submit behind it.
    package var first: CoreInstant

    init(run: RunID, key: Key, batch: Batch<Value>, due: Gate.Due) {
        self.run = run
        self.key = key
        self.batch = batch
        count = due.count
        cause = due.cause
        at = due.at
        first = due.first
    }
}

extension Execution: Sendable where Key: Sendable, Value: Sendable {}
