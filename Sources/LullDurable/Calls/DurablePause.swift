package import LullCore

/// The pause of a namespace: why and when it was paused. See ``DurableCoalescer/pause(reason:for:)``.
public struct DurablePause: Hashable, Sendable {
    /// The reason that was given; nil if none was.
    public var reason: String?
    /// When the namespace was paused: the time since the beginning of 1970 (UTC) on the wall clock of the machine that
    /// paused it, or of the server. For people; nothing is decided by it.
    public var time: Duration
    /// When the pause ends by itself, in the store's time; nil if only a `resume` ends it.
    package var end: CoreInstant?

    /// Creates a pause.
    package init(reason: String?, time: Duration, end: CoreInstant? = nil) {
        self.reason = reason
        self.time = time
        self.end = end
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

    /// Returns a namespace's pause after it was paused.
    ///
    /// A namespace that is paused already has been paused since the first time. Of two pauses, the one counts that
    /// lasts longer: it keeps its reason, and an equal or a longer one gives it a new reason if there is one.
    ///
    /// - Parameters:
    ///   - reason: Why.
    ///   - length: How long it lasts; nil until a `resume`.
    ///   - old: The pause before; nil if it was not paused.
    ///   - now: The present instant of the store's time.
    ///   - wall: The present time on the wall clock, since the beginning of 1970.
    package init(
        _ reason: String?, for length: CoreDuration?, over old: DurablePause?, at now: CoreInstant, wall: Duration
    ) {
        let end = length.map { now.advanced(by: max(.zero, $0)) }
        if let old, old.end ?? .farFuture > end ?? .farFuture {
            self = old
        } else {
            self.init(reason: Self.kept(reason) ?? old?.reason, time: old?.time ?? wall, end: end)
        }
    }

    /// Returns the pause, or nil if it is over at an instant.
    package func at(_ now: CoreInstant) -> DurablePause? {
        if let end, end <= now { nil } else { self }
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

/// Thrown by a worker's handler: let nothing of the namespace start for a while, and run this again afterwards.
///
/// ```swift
/// if response.status == 429 { throw PauseFor(.seconds(60), because: "429 Too Many Requests") }
/// ```
///
/// For a limit that the handler has just learned, such as that of a service that refuses calls for the next minute. The
/// namespace is paused for that time (``DurableCoalescer/pause(reason:for:)``), for all its workers; the run is snoozed
/// for as long, which spends no attempt.
public struct PauseFor: Error, Hashable, Sendable {
    /// How long the pause lasts; a negative time counts as zero.
    public let time: Duration
    /// Why, for those who look at the status.
    public let reason: String?

    /// Creates the answer.
    public init(_ time: Duration, because reason: String? = nil) {
        self.time = time
        self.reason = reason
    }
}
