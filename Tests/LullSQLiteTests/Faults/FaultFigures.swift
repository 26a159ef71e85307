/// Counts of what happened in trials.
struct FaultFigures: CustomStringConvertible {
    var accepted = 0
    var refused = 0
    var unknown = 0
    var executed = 0
    var incidents = 0
    var starts = 0
    var lostWrites = 0

    static func + (left: Self, right: Self) -> Self {
        Self(
            accepted: left.accepted + right.accepted, refused: left.refused + right.refused,
            unknown: left.unknown + right.unknown, executed: left.executed + right.executed,
            incidents: left.incidents + right.incidents, starts: left.starts + right.starts,
            lostWrites: left.lostWrites + right.lostWrites)
    }

    var description: String {
        "\(incidents) incidents, \(starts) restarts, \(lostWrites) writes lost; submits: \(accepted) accepted, "
            + "\(refused) refused, \(unknown) unknown; \(executed) executions"
    }
}
