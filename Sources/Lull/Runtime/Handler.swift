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

    @inline(never)
    static func onQueue(
        _ queue: DispatchQueue, _ fold: Runtime.Fold?, _ handler: @escaping @Sendable (Key, Value) throws -> Output
    ) -> Self {
        .queue(queue, .one(fold, handler))
    }

    @inline(never)
    static func onQueue(
        _ queue: DispatchQueue, collecting handler: @escaping @Sendable (Key, [Value]) throws -> Output
    ) -> Self {
        .queue(queue, .all(handler))
    }
}

extension Runtime.Handler where Value == Void {
    @inline(never)
    static func inTask(_ handler: @escaping @Sendable @isolated(any) (Key) async throws -> Output) -> Self {
        .task(on: handler.isolation, .one(nil) { key, _ in try await handler(key) })
    }

    @inline(never)
    static func onQueue(_ queue: DispatchQueue, _ handler: @escaping @Sendable (Key) throws -> Output) -> Self {
        .queue(queue, .one(nil) { key, _ in try handler(key) })
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

    @inline(never)
    static func onQueue(
        _ queue: DispatchQueue, _ fold: Runtime.Fold?, _ handler: @escaping @Sendable (Value) throws -> Output
    ) -> Self {
        .queue(queue, .one(fold) { _, value in try handler(value) })
    }

    @inline(never)
    static func onQueue(
        _ queue: DispatchQueue, collecting handler: @escaping @Sendable ([Value]) throws -> Output
    ) -> Self {
        .queue(queue, .all { _, values in try handler(values) })
    }
}

extension Runtime.Handler where Key == NoKey, Value == Void {
    @inline(never)
    static func inTask(_ handler: @escaping @Sendable @isolated(any) () async throws -> Output) -> Self {
        .task(on: handler.isolation, .one(nil) { _, _ in try await handler() })
    }

    @inline(never)
    static func onQueue(_ queue: DispatchQueue, _ handler: @escaping @Sendable () throws -> Output) -> Self {
        .queue(queue, .one(nil) { _, _ in try handler() })
    }
}
