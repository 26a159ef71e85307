internal import Synchronization

/// A value that several threads may take and change.
nonisolated package final class Guarded<Value: Sendable>: Sendable {
    private let held: Mutex<Value>

    package init(_ value: Value) {
        held = Mutex(value)
    }

    package var value: Value { held.withLock { $0 } }

    package func change<R: Sendable>(_ body: (inout Value) -> R) -> R {
        held.withLock { body(&$0) }
    }
}
