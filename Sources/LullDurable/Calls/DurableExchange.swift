/// The answers to calls that a worker made together: see ``StoreCalls/exchange(_:_:)``.
package struct DurableExchange: Sendable {
    /// The answers to the reports, in the order of the reports.
    package var reports: [Result<DurableReport.Answer, DurableError>]
    /// The answer to the claim, if there was one.
    package var claim: Result<DurableClaim.Answer, DurableError>?

    /// Creates the answers.
    package init(
        reports: [Result<DurableReport.Answer, DurableError>], claim: Result<DurableClaim.Answer, DurableError>?
    ) {
        self.reports = reports
        self.claim = claim
    }

    /// Creates the answers to calls that have all failed.
    package init(_ reports: [DurableReport], _ claim: DurableClaim?, failed error: DurableError) {
        self.init(reports: reports.map { _ in .failure(error) }, claim: claim.map { _ in .failure(error) })
    }
}
