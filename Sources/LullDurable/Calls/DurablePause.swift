/// The pause of a namespace: why and when it was paused. See ``DurableCoalescer/pause(reason:)``.
public struct DurablePause: Hashable, Sendable {
    /// The reason that was given; nil if none was.
    public var reason: String?
    /// When the namespace was paused: the time since the beginning of 1970 (UTC) on the wall clock of the machine that
    /// paused it, or of the server. For people; nothing is decided by it.
    public var time: Duration

    /// Creates a pause.
    package init(reason: String?, time: Duration) {
        self.reason = reason
        self.time = time
    }
}

extension DurablePause {
    /// The most Unicode scalars of a reason that a store keeps.
    package static let longestReason = 500

    /// Returns as much of a reason as every store can keep; nil for an empty one.
    package static func kept(_ reason: String?) -> String? {
        guard let reason, !reason.isEmpty else { return nil }
        return String(String.UnicodeScalarView(reason.unicodeScalars.prefix(longestReason))).withoutZeros
    }

    /// Returns a namespace's pause after it was paused: a namespace that is paused again has been paused since the
    /// first time, and keeps its reason unless there is a new one.
    ///
    /// - Parameters:
    ///   - old: The pause before; nil if it was not paused.
    ///   - wall: The present time on the wall clock, since the beginning of 1970.
    package init(_ reason: String?, over old: DurablePause?, at wall: Duration) {
        self.reason = Self.kept(reason) ?? old?.reason
        time = old?.time ?? wall
    }

    /// `: the reason`, or nothing.
    package var suffix: String { reason.map { ": \($0)" } ?? "" }
}

extension String {
    /// The text as every store can keep it: PostgreSQL's cannot have a zero.
    var withoutZeros: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 }))
    }
}
