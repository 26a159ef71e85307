public import LullCore

extension Runtime {
    /// Submits, and waits for what becomes of it.
    @inlinable
    nonisolated(nonsending) func outcome(
        of value: Value, for key: Key, wait: CoreDuration? = nil
    ) async throws(CancellationError) -> Outcome<Output> {
        let promise = Promise<Outcome<Output>>()
        submit(value, for: key, wait: wait, promise: promise)
        guard let outcome = await promise.value(observer: observer) else { throw CancellationError() }
        return outcome
    }

    /// A promise whose outcome goes to a callback, in a task of its own.
    func promise(
        for key: Key, _ completion: @escaping @Sendable @isolated(any) (Outcome<Output>) async -> Void
    ) -> Promise<Outcome<Output>> {
        Promise { [observer] outcome in
            // A clock keeps track of it, but it is no run of the handler: it may wait for the debouncer.
            let work = Work { describe(key, of: Value.self) }
            observer?.began(work)
            _ = launch(work, observer, on: completion.isolation) {
                await completion(outcome)
                observer?.ended(work)
            }
        }
    }
}
