internal import Lull

extension ManualClock {
    /// Starts a task that the clock keeps track of as it does of a handler: for calls that wait.
    ///
    /// ```swift
    /// let outcome = clock.task { try await save.outcome(of: "ab") }
    /// await clock.advance(by: .zero, until: .started)     // the value has been submitted
    /// await clock.advance(by: .seconds(2))
    /// guard case .executed(2) = try await outcome.value else { Issue.record("not executed"); return }
    /// ```
    ///
    /// With `until: .started`, ``advance(by:until:)`` returns when the task has run as far as it could; without, when
    /// it has ended or sleeps on the clock. To wait for an execution on this clock counts as sleeping on it.
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
