/// The end of a range of submits: recorded once, in the step in which the range ends.
public struct DurableEnding: Hashable, Sendable {
    /// The generations that end.
    public var submits: ClosedRange<Int64>
    /// How the range ends.
    public var how: How
    /// The run, if the range had been claimed. The values of a dead run are retained, so that it can be retried.
    public var run: DurableRow.Run?

    /// How a range ends.
    public enum How: Hashable, Sendable, CaseIterable {
        /// The handler returned.
        case completed
        /// The handler threw, and a newer value of the key replaced the run.
        case failed
        /// It was cancelled before a worker claimed it.
        case cancelled
        /// It was submitted in a leading-only window that another value had opened.
        case absorbed
        /// All its attempts have failed.
        case dead

        /// The name of the end, as stores and reports write it.
        public var name: StaticString {
            switch self {
            case .completed: "completed"
            case .failed: "failed"
            case .cancelled: "cancelled"
            case .absorbed: "absorbed"
            case .dead: "dead"
            }
        }

        /// Creates the end with a name; nil if there is none.
        package init?(_ name: String) {
            guard let how = Self.allCases.first(where: { "\($0.name)" == name }) else { return nil }
            self = how
        }
    }

    /// Creates the end of a range that had not been claimed.
    init(_ submits: ClosedRange<Int64>, _ how: How) {
        self.submits = submits
        self.how = how
    }

    /// Creates the end of a run.
    init(_ run: DurableRow.Run, _ how: How) {
        submits = run.value.submits
        self.how = how
        self.run = run
    }
}
