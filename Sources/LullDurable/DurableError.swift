public import LullCore

/// Why a durable call did not do what it was asked for.
///
/// What matters first to a producer: after ``unknown(_:)`` the submit may have been recorded, and is to be repeated with the
/// same token; after every other error it has certainly not been.
@nonexhaustive
public enum DurableError: Error, Hashable, Sendable {
    /// The store did not take it: the disk is full, the file is read-only, locked for too long, or the like.
    case refused(String)
    /// The answer was lost on the way: it may have been recorded, or not.
    case unknown(String)
    /// The store cannot be used: it is not one of Lull's, newer than this version, or damaged.
    case unusable(String)
    /// The namespace was opened before with another kind of policy, other edges or another combination.
    case otherPolicy(namespace: String, stored: DurableRules, given: DurableRules)
    /// The namespace has never been opened with a policy.
    case noPolicy(namespace: String)
    /// The value is larger than the store takes.
    case tooLarge(bytes: Int, limit: Int)
    /// The token was used before, for a submit of another key.
    case tokenOfOtherKey(token: String)
    /// The value cannot be written as JSON.
    case unencodable(String)
    /// The store has been closed.
    case closed
}

extension DurableError: CustomStringConvertible {
    /// What happened, in one sentence without a full stop.
    public var description: String {
        switch self {
        case .refused(let why): "not recorded: \(why)"
        case .unknown(let why): "perhaps recorded, perhaps not: \(why)"
        case .unusable(let why): why
        case .otherPolicy(let namespace, let stored, let given):
            "the namespace \(namespace) has the policy \(stored.summary), and cannot be opened with \(given.summary)"
        case .noPolicy(let namespace):
            "the namespace \(namespace) is not there yet: its first use has to say the policy"
        case .tooLarge(let bytes, let limit): "the value has \(bytes) bytes, but \(limit) are the most that is taken"
        case .tokenOfOtherKey(let token): "the token \(token) was used for a submit of another key"
        case .unencodable(let why): "the value cannot be written as JSON: \(why)"
        case .closed: "the store has been closed"
        }
    }
}

extension DurableRules {
    /// The part of the rules that a namespace keeps for ever: everything but the durations and counts.
    var lasting: [String] {
        let kind = policy.kind == .debounce ? "debounce" : "throttle"
        let edges = [(Edges.leading, "leading"), (.trailing, "trailing")].filter { policy.edges.contains($0.0) }
        return [kind, edges.map(\.1).joined(separator: ","), combination.name]
    }

    /// `debounce trailing latest`.
    var summary: String { lasting.joined(separator: " ") }
}

extension Combination {
    /// The name of the combination as options and stores write it.
    package var name: String {
        switch self {
        case .latest: "latest"
        case .first: "first"
        case .collect: "collect"
        }
    }
}
