internal import Dispatch

extension Runtime {
    /// The user's handler, and where it runs.
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
    enum TaskBody: Sendable {
        /// Gets one value, with the others folded into it if there is a function for that.
        case one(Fold?, AsyncHandler<Value>)
        /// Gets all values, in order.
        case all(AsyncHandler<[Value]>)

        /// Where all values are kept.
        nonisolated(nonsending) func callAsFunction(_ key: Key, _ values: [Value]) async throws -> Output {
            switch self {
            case .one(let fold, let body): try await body(key, Runtime.merged(values, fold))
            case .all(let body): try await body(key, values)
            }
        }
    }

    // An enum case cannot spell this type.
    typealias AsyncHandler<Input> =
        nonisolated(nonsending) @Sendable (Key, Input) async throws -> Output

    /// A synchronous handler.
    enum QueueBody: Sendable {
        /// Gets one value, with the others folded into it if there is a function for that.
        case one(Fold?, @Sendable (Key, Value) throws -> Output)
        /// Gets all values, in order.
        case all(@Sendable (Key, [Value]) throws -> Output)

        /// Where all values are kept.
        func callAsFunction(_ key: Key, _ values: [Value]) throws -> Output {
            switch self {
            case .one(let fold, let body): try body(key, Runtime.merged(values, fold))
            case .all(let body): try body(key, values)
            }
        }
    }

    /// Merges a value into the pending one.
    typealias Fold = @Sendable (_ pending: inout Value, _ value: Value) -> Void

    /// The one value that a handler gets where all are kept.
    private static func merged(_ values: [Value], _ fold: Fold?) -> Value {
        var merged = values[0]
        for value in values.dropFirst() { fold?(&merged, value) }
        return merged
    }
}
