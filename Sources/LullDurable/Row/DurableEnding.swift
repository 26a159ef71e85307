/// The end of a range of submits: recorded once, in the step in which the range ends.
package struct DurableEnding: Hashable, Sendable {
    /// The generations that end.
    package var submits: ClosedRange<Int64>
    /// How the range ends.
    package var how: DurableOutcome
    /// The run, if the range had been claimed. The values of a dead run are retained, so that it can be retried.
    package var run: DurableRow.Run?

    /// Creates the end of a range that had not been claimed.
    init(_ submits: ClosedRange<Int64>, _ how: DurableOutcome) {
        self.submits = submits
        self.how = how
    }

    /// Creates the end of a run.
    init(_ run: DurableRow.Run, _ how: DurableOutcome) {
        submits = run.value.submits
        self.how = how
        self.run = run
    }
}
