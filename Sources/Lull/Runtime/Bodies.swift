internal import Dispatch
internal import LullCore

extension Runtime.Handler {
    typealias Item = Runtime.Item

    /// A handler of one value, in a task of its own on an actor or on none.
    static func task(
        on isolation: (any Actor)?, _ combining: Combining<Value>,
        _ body: nonisolated(nonsending) @escaping @Sendable (Key, Value) async throws -> Output
    ) -> Self {
        .task(isolation: isolation) { key, batch in try await body(key, combining.value(of: batch)) }
    }

    /// A handler of all values, in a task of its own on an actor or on none.
    static func task(
        on isolation: (any Actor)?,
        collecting body: nonisolated(nonsending) @escaping @Sendable (Key, [Value]) async throws -> Output
    ) -> Self {
        .task(isolation: isolation) { key, batch in try await body(key, batch.values.map(\.value)) }
    }

    /// A synchronous handler of one value, on a queue.
    static func queue(
        _ queue: DispatchQueue, _ combining: Combining<Value>,
        _ body: @escaping @Sendable (Key, Value) throws -> Output
    ) -> Self {
        .queue(queue, .ofOne(combining.fold, body))
    }

    /// A synchronous handler of all values, on a queue.
    static func queue(
        _ queue: DispatchQueue, collecting body: @escaping @Sendable (Key, [Value]) throws -> Output
    ) -> Self {
        .queue(queue, .ofAll(body))
    }
}

extension Combining {
    /// The one value that a handler gets.
    func value<Key, Output>(of batch: Batch<Runtime<Key, Value, Output>.Item>) -> Value {
        Runtime.value(of: batch, fold)
    }
}

/// A failure handler for those who have no keys.
func ignoringKey(
    _ onFailure: (@Sendable (any Error) async -> Void)?
) -> (@Sendable (any Error, NoKey) async -> Void)? {
    guard let onFailure else { return nil }
    return { error, _ in await onFailure(error) }
}
