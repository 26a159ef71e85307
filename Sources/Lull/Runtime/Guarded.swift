/// A value that several threads may take and change. What it held before is handed out, to be released outside the lock.
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
