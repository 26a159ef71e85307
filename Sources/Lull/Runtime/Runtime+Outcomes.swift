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
        // Weak: the engine keeps the promise. Its runtime delivers it.
        Promise { [weak self] outcome, run in
            self?.call(of: run, key, on: completion.isolation) { await completion(outcome) }
        }
    }

    /// Calls code of the user's that is told what became of submits, in a task of its own on its actor.
    ///
    /// - Parameter run: The execution whose outcome that is, if it is one. When the call has ended, a step of telling it has.
    func call(
        of run: RunID?, _ key: Key, on isolation: (any Actor)?,
        _ body: nonisolated(nonsending) @escaping @Sendable () async -> Void
    ) {
        // While it tells the outcome of an execution, it is a part of that: it cannot wait for its own end.
        let work =
            run.map { makeWork(of: Value.self, run: $0, runtime: number, key: key) }
            ?? Work { describe(key, of: Value.self) }
        workObserver?.began(work)
        _ = launch(work, workObserver, on: isolation) {
            await body()
            if let run { self.told(run) }
            self.workObserver?.ended(work)
        }
    }
}
