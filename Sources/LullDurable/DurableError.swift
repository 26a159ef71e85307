internal import LullCore

/// The error of a call of a durable debouncer or a store.
///
/// After ``unknown(_:)`` a submit may have been recorded: repeat it, with the same token if each submit counts.
/// After every other error it has certainly not been recorded (<doc:WorkThatSurvives>).
@nonexhaustive
public enum DurableError: Error, Hashable, Sendable {
    /// Nothing was recorded. The text gives the reason: the file is read-only or was locked for too long, the server is
    /// away, or the like.
    case refused(String)
    /// Nothing was recorded, because there is no room: the disk is full, or the memory that a server may use. The text
    /// says which. What is recorded already is not lost, and workers make room.
    case full(String)
    /// The answer was lost: the call may or may not have been recorded. The text says what happened.
    case unknown(String)
    /// The store cannot be used: it is not one of Lull's, newer than this version, or damaged. Retrying does not help.
    case unusable(String)
    /// The namespace has another policy than the one with which it is opened; nothing has changed. The ``description``
    /// names what differs. Durations and counts can be changed for all that use the namespace, with `changingPolicy`;
    /// the kind, edges, `combining` and `whileRunning` cannot.
    case otherPolicy(namespace: String, stored: DurableRules, given: DurableRules)
    /// The namespace is not in the store: it has never been opened with a policy.
    case noPolicy(namespace: String)
    /// The namespace is not forgotten, because it has work or dead runs: see ``DurableStore/forget(_:)``.
    case hasWork(DurableStatus)
    /// The value has more bytes than ``DurableLimits/largestValue`` allows.
    case tooLarge(bytes: Int, limit: Int)
    /// The key has more bytes than ``DurableLimits/longestKey``.
    case keyTooLong(bytes: Int, limit: Int)
    /// The context has more bytes than ``DurableLimits/longestContext``.
    case contextTooLong(bytes: Int, limit: Int)
    /// The token was used before, for a submit under another key.
    case tokenOfOtherKey(token: String)
    /// The value cannot be written as JSON.
    case unencodable(String)
    /// The key or a value of a run cannot be decoded: another version of the program wrote it, or another program. A
    /// worker reports it as ``DurableFailure/threw(_:_:retryIn:)`` and tries the run again, as after any other error.
    case undecodable(String)
    /// This process has closed the store.
    case closed
}

extension DurableError: CustomStringConvertible {
    /// The error in one sentence without a full stop, for a log or a message.
    public var description: String {
        switch self {
        case .refused(let why), .full(let why): "not recorded: \(why)"
        case .unknown(let why): "perhaps recorded, perhaps not: \(why)"
        case .unusable(let why): why
        case .otherPolicy(let namespace, let stored, let given):
            Self.text(namespace, stored, given)
        case .noPolicy(let namespace):
            "the namespace \(namespace) is not there yet: its first use has to say the policy"
        case .hasWork(let status): "the namespace \(status.namespace) is not forgotten: it has \(status.workText)"
        case .tooLarge(let bytes, let limit): "the value has \(bytes) bytes, but \(limit) are the most that is taken"
        case .keyTooLong(let bytes, let limit): "the key has \(bytes) bytes, but \(limit) are the most that is taken"
        case .contextTooLong(let bytes, let limit):
            "the context has \(bytes) bytes, but \(limit) are the most that is taken"
        case .tokenOfOtherKey(let token): "the token \(token) was used for a submit of another key"
        case .unencodable(let why): "the value cannot be written as JSON: \(why)"
        case .undecodable(let why): why
        case .closed: "the store has been closed"
        }
    }

    /// `the namespace sync has another policy (wait: 2 s, here 5 s): use the same, or …`
    private static func text(_ namespace: String, _ stored: DurableRules, _ given: DurableRules) -> String {
        let remedy =
            stored.canChange(to: given)
            ? "open it with the same, or change it for all that use it with changingPolicy: true"
            : "kind, edges, combining and whileRunning cannot change, so open it with the same, or use another "
                + "namespace"
        return "the namespace \(namespace) has another policy (\(stored.differences(from: given, "here"))): \(remedy)"
    }
}
