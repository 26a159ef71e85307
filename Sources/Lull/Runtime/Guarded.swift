/// A value behind a lock. An exchange returns the old value, so that it is released without the lock.
package final class Guarded<Value: Sendable>: @unchecked Sendable {
    // Proof of @unchecked Sendable: `held` is only touched while `lock` is held.
    private let lock = Lock()
    private var held: Value

    package init(_ value: Value) {
        held = value
    }

    package var value: Value { lock.withLock { held } }

    package func exchange(_ new: Value) -> Value {
        change { value in
            let old = value
            value = new
            return old
        }
    }

    package func change<R>(_ body: (inout Value) -> R) -> R {
        lock.withLock { body(&held) }
    }
}
