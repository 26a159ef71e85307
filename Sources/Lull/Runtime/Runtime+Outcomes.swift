public import LullCore

extension Runtime {
    /// Submits a value, and waits for its outcome.
    @inlinable
    nonisolated(nonsending) func outcome(
        of value: Value, for key: Key, wait: CoreDuration? = nil
    ) async throws(CancellationError) -> Outcome<Output> {
        let promise = Promise<Outcome<Output>>()
        submit(value, for: key, wait: wait, promise: promise)
        guard let outcome = await promise.value(observer: workObserver) else { throw CancellationError() }
        return outcome
    }

    /// Returns a promise that passes the outcome to a completion, in a task of its own.
    func promise(
        for key: Key, _ completion: @escaping @Sendable @isolated(any) (Outcome<Output>) async -> Void
    ) -> Promise<Outcome<Output>> {
        Promise { [workObserver] outcome in
            // The clock tracks it, but it is no run of the handler: it may wait for the debouncer.
            let work = Work { describe(key, of: Value.self) }
            workObserver?.began(work)
            _ = launch(work, workObserver, on: completion.isolation) {
                await completion(outcome)
                workObserver?.ended(work)
            }
        }
    }
}
