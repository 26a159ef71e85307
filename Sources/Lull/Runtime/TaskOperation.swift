/// The operation of a task, which runs on the actor on which it is called.
package typealias TaskOperation = nonisolated(nonsending) @Sendable () async throws -> Void

/// Starts a task for an execution or other tracked work.
///
/// The task is detached: whether a timer or a caller's flush starts it, it inherits nothing of the caller's task.
///
/// - Parameter executor: Where it runs if nobody observes the work; nil for the cooperative pool.
package func launch(
    _ work: TrackedWork, _ observer: (any WorkObserver)?, on isolation: (any Actor)?,
    preferring executor: (any TaskExecutor)? = nil, _ operation: @escaping TaskOperation
) -> Task<Void, any Error> {
    // Without an observer the task has no executor preference: with one, even for none, each resumption takes a lock
    // (measured: a stream took half as long again).
    guard let observer else {
        if let executor {
            return Task.detached(executorPreference: executor) {
                try await TrackedWork.$current.withValue(work) { try await operation() }
            }
        }
        guard let isolation else {
            return Task.detached { try await TrackedWork.$current.withValue(work) { try await operation() } }
        }
        return Task.detached {
            try await TrackedWork.$current.withValue(work) { try await run(operation, on: isolation) }
        }
    }
    let executor = ObservedExecutor(work, observer)
    return Task.detached(executorPreference: executor) {
        try await TrackedWork.$current.withValue(work) {
            try await run(operation, on: isolation) { executor.entered(on: isolation) }
        }
    }
}

/// Runs an operation on an actor, or on none.
private func run(
    _ operation: TaskOperation, on isolation: isolated (any Actor)?, entered: () -> Void = {}
) async throws {
    entered()
    try await operation()
}
