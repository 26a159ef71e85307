internal import Lull

extension ManualClock {
    /// Starts a task that ``advance(by:until:)`` waits for as it does for a handler: use it for calls that return only
    /// after the clock has moved, such as `outcome(of:)` and `flushAndWait()`.
    ///
    /// ```swift
    /// let outcome = clock.task { try await save.outcome(of: "ab") }
    /// await clock.advance(by: .zero, until: .started)     // the value has been submitted
    /// await clock.advance(by: .seconds(2))
    /// guard case .executed(2) = try await outcome.value else { Issue.record("not executed"); return }
    /// ```
    ///
    /// With `until: .started`, ``advance(by:until:)`` returns when the task has run until it had to wait; by default, when
    /// the task has ended or sleeps on the clock. Waiting for an execution on this clock counts as sleeping on it.
    ///
    /// - Parameter body: The operation of the task, on the actor on which the closure was written.
    /// - Returns: The task, whose `value` throws what `body` throws.
    public func task<R: Sendable>(
        @_inheritActorContext _ body: @escaping @Sendable @isolated(any) () async throws -> R
    ) -> Task<R, any Error> {
        let work = Work { "a task of the test" }
        began(work)
        return launch(work, self, on: body.isolation) {
            defer { self.ended(work) }
            return try await body()
        }
    }
}
