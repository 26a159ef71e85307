package import Dispatch

extension Runtime {
    /// The user's handler, and where it runs.
    package enum Handler: Sendable {
        /// In a task of its own for each execution, on an actor or on none.
        case task(on: (any Actor)?, TaskBody)
        /// On a queue, with one value, into which the others are folded if there is a function for that.
        case queue(DispatchQueue, Fold?, @Sendable (Key, Value) throws -> Output)

        /// The queue, if it runs on one.
        var queue: DispatchQueue? {
            if case .queue(let queue, _, _) = self { queue } else { nil }
        }
    }

    /// An asynchronous handler.
    package enum TaskBody: Sendable {
        /// Gets one value, with the others folded into it if there is a function for that.
        case one(Fold?, AsyncHandler<Value>)
        /// Gets all values, in order.
        case all(AsyncHandler<[Value]>)
    }

    // An enum case cannot spell this type.
    package typealias AsyncHandler<Input> =
        nonisolated(nonsending) @Sendable (Key, Input) async throws -> Output

    /// Merges a value into the pending one.
    package typealias Fold = @Sendable (_ pending: inout Value, _ value: Value) -> Void

    /// The one value that a handler gets where all are kept.
    static func merged(_ values: [Value], _ fold: Fold?) -> Value {
        var merged = values[0]
        for value in values.dropFirst() { fold?(&merged, value) }
        return merged
    }
}

// Each handler of an initialiser as one that takes a key. Not inlined: an asynchronous closure is a dozen functions, in
// every initialiser that has one.

extension Runtime.Handler {
    @inline(never)
    static func inTask(
        _ fold: Runtime.Fold?, _ handler: @escaping @Sendable @isolated(any) (Key, Value) async throws -> Output
    ) -> Self {
        .task(on: handler.isolation, .one(fold) { key, value in try await handler(key, value) })
    }

    @inline(never)
    static func inTask(
        collecting handler: @escaping @Sendable @isolated(any) (Key, [Value]) async throws -> Output
    ) -> Self {
        .task(on: handler.isolation, .all { key, values in try await handler(key, values) })
    }
}

extension Runtime.Handler where Value == Void {
    @inline(never)
    static func inTask(_ handler: @escaping @Sendable @isolated(any) (Key) async throws -> Output) -> Self {
        .task(on: handler.isolation, .one(nil) { key, _ in try await handler(key) })
    }
}

extension Runtime.Handler where Key == NoKey {
    @inline(never)
    static func inTask(
        _ fold: Runtime.Fold?, _ handler: @escaping @Sendable @isolated(any) (Value) async throws -> Output
    ) -> Self {
        .task(on: handler.isolation, .one(fold) { _, value in try await handler(value) })
    }

    @inline(never)
    static func inTask(
        collecting handler: @escaping @Sendable @isolated(any) ([Value]) async throws -> Output
    ) -> Self {
        .task(on: handler.isolation, .all { _, values in try await handler(values) })
    }
}

extension Runtime.Handler where Key == NoKey, Value == Void {
    @inline(never)
    static func inTask(_ handler: @escaping @Sendable @isolated(any) () async throws -> Output) -> Self {
        .task(on: handler.isolation, .one(nil) { _, _ in try await handler() })
    }
}
