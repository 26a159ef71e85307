/// A clock that calls where others sleep, as those for tests do. Other clocks are used by their `sleep(until:)`.
package protocol CallbackClock<Duration>: Clock where Duration == Swift.Duration {
    /// Calls `body` once, when the clock has reached the instant. May do so before it returns.
    ///
    /// - Parameter site: Where the program makes what waits.
    func wake(at instant: Instant, for site: SourceSite, _ body: @escaping @Sendable () -> Void)
}
