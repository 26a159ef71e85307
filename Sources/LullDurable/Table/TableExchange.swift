package import LullCore

/// The answers to calls that a worker made in one step.
package struct TableExchange: Sendable {
    let reports: [Result<DurableReport.Answer, DurableError>]
    let claim: Result<Claimed, DurableError>?
    /// The instant of the step.
    package let now: CoreInstant

    /// The answer to a claim.
    package struct Claimed: Sendable {
        package let runs: [DurableRun]
        let dead: [DurableRun]
        /// When there may be more; nil if nothing is left.
        let next: CoreInstant?
        let pause: DurablePause?
    }

    /// Returns the answers for the caller.
    ///
    /// - Parameter mark: Returns the mark for a claim's answer, from the instant at which there may be more, and
    ///   whether the namespace is paused.
    package func answers(mark: (CoreInstant?, _ isPaused: Bool) -> Int64) -> DurableExchange {
        let claimed = claim.map { result in
            result.map { claimed in
                var answer = DurableClaim.Answer(
                    runs: claimed.runs, dead: claimed.dead,
                    next: claimed.next.map { DurableNamespace.time(from: now, to: $0) },
                    mark: mark(claimed.next, claimed.pause != nil), pause: claimed.pause)
                answer.now = now
                return answer
            }
        }
        return DurableExchange(reports: reports, claim: claimed)
    }
}
