// What a handler may throw to say what is to become of its execution, where the program retries: a handler knows better
// than a fixed backoff. Where it does not, each counts as any other error.

/// Thrown by a handler: run it again after a while. That spends no attempt, and is no failure.
///
/// ```swift
/// guard try await account.isReady else { throw Snooze(for: .seconds(30)) }
/// ```
///
/// For work that waits for something else. An execution may be snoozed as often as it wants. What a newer value does to
/// it meanwhile is what it does to one that has failed and waits for another attempt (<doc:Semantics>, section 7).
public struct Snooze: Error, Hashable {
    /// How long to wait; a negative time counts as zero.
    public let time: Duration

    /// Creates the answer.
    public init(for time: Duration) {
        self.time = time
    }
}

/// Thrown by a handler that has failed: try again after this time, in place of the backoff. It spends an attempt.
///
/// ```swift
/// if response.status == 429 { throw RetryAfter(.seconds(response.retryAfter), because: "429 Too Many Requests") }
/// ```
public struct RetryAfter: Error, Hashable {
    /// How long to wait; a negative time counts as zero.
    public let time: Duration
    /// Why the attempt has failed.
    public let reason: String?

    /// Creates the answer.
    public init(_ time: Duration, because reason: String? = nil) {
        self.time = time
        self.reason = reason
    }
}

/// Thrown by a handler that has failed, and would fail again: do not try it another time.
///
/// ```swift
/// if response.status == 404 { throw GiveUp("there is no document \(id)") }
/// ```
public struct GiveUp: Error, Hashable {
    /// Why it would fail again.
    public let reason: String

    /// Creates the answer.
    public init(_ reason: String) {
        self.reason = reason
    }
}

extension Snooze: CustomStringConvertible {
    /// `snoozed for 30 s`.
    public var description: String { "snoozed for \(time.text)" }
}

extension RetryAfter: CustomStringConvertible {
    /// The reason, or how long it is to wait.
    public var description: String { reason ?? "asked for another attempt after \(time.text)" }
}

extension GiveUp: CustomStringConvertible {
    /// The reason.
    public var description: String { reason }
}
