internal import Synchronization

/// A value that several threads may take and change. What it held before is handed out, to be released outside the
/// lock.
final class Guarded<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    init(_ value: Value) {
        mutex = Mutex(value)
    }

    var value: Value { mutex.withLock { $0 } }

    func exchange(_ new: Value) -> Value {
        mutex.withLock { value in
            let old = value
            value = new
            return old
        }
    }

    func change<R: Sendable>(_ body: (inout Value) -> R) -> R {
        mutex.withLock { value in body(&value) }
    }
}
