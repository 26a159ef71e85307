public import Dispatch
public import LullCore

extension Runtime {
    /// The user's handler, and where it runs.
    @usableFromInline
    enum Handler: Sendable {
        /// In a task of its own for each execution, on an actor or on none.
        case task(on: (any Actor)?, TaskBody)
        /// On a queue.
        case queue(DispatchQueue, QueueBody)

        /// The queue, if it runs on one.
        var queue: DispatchQueue? {
            if case .queue(let queue, _) = self { queue } else { nil }
        }
    }

    /// An asynchronous handler.
    @usableFromInline
    enum TaskBody: Sendable {
        /// Gets one value, with the others folded into it if there is a function for that.
        case one(Fold?, AsyncHandler<Value>)
        /// Gets all values, in order.
        case all(AsyncHandler<[Value]>)

        @inlinable
        nonisolated(nonsending) func callAsFunction(_ execution: Execution<Key, Item>) async throws -> Output {
            switch self {
            case .one(let fold, let body): try await body(execution.key, Runtime.value(of: execution.batch, fold))
            case .all(let body): try await body(execution.key, execution.batch.values.map(\.value))
            }
        }
    }

    // An enum case cannot spell this type.
    @usableFromInline typealias AsyncHandler<Input> =
        nonisolated(nonsending) @Sendable (Key, Input) async throws -> Output

    /// A synchronous handler.
    ///
    /// An enum rather than a closure over the handler: the values are taken out of the batch in code that is specialised for
    /// the user's types. In a closure made in this module that took a twentieth of an execution (`make bench ROWS=due`).
    @usableFromInline
    enum QueueBody: Sendable {
        /// Gets one value, with the others folded into it if there is a function for that.
        case one(Fold?, @Sendable (Key, Value) throws -> Output)
        /// Gets all values, in order.
        case all(@Sendable (Key, [Value]) throws -> Output)

        @inlinable
        @inline(__always)
        func callAsFunction(_ execution: inout Execution<Key, Item>) throws -> Output {
            switch self {
            case .one(let fold, let body):
                // Most batches hold one value: these are not copied.
                guard let fold, !execution.batch.earlier.isEmpty else {
                    return try body(execution.key, execution.batch.value.value)
                }
                return try body(execution.key, Runtime.value(of: execution.batch, fold))
            case .all(let body): return try body(execution.key, execution.batch.values.map(\.value))
            }
        }
    }

    /// Merges a value into the pending one.
    @usableFromInline typealias Fold = @Sendable (_ pending: inout Value, _ value: Value) -> Void

    /// The one value that a handler gets.
    @inlinable
    static func value(of batch: Batch<Item>, _ fold: Fold?) -> Value {
        guard let fold, let first = batch.earlier.first else { return batch.value.value }
        var merged = first.value
        for item in batch.earlier.dropFirst() { fold(&merged, item.value) }
        fold(&merged, batch.value.value)
        return merged
    }
}
