internal import Lull
internal import LullCore
internal import LullInspection

/// The instants of what looks at a store find as durations.
///
/// A duration is another one in each look. Its instant would be, too, by the time that an answer takes to come and by
/// what two clocks differ: one that is near that of the look before is taken for the same.
struct StableInstants {
    private struct Name: Hashable {
        let what: String
        let owner: [UInt8]
    }

    /// How far apart the same instant may be found, in nanoseconds. Nobody sees the difference on a page.
    private static let tolerance: Int64 = 50_000_000

    private var before: [Name: Int64] = [:]
    private var found: [Name: Int64] = [:]

    /// Begins the next look.
    mutating func begin() { (before, found) = (found, [:]) }

    /// Returns an instant that comes in a while; null for none.
    ///
    /// - Parameters:
    ///   - what: What happens then, and to whom.
    ///   - now: When the duration was asked for, in nanoseconds since 1970.
    mutating func ahead(_ duration: Duration?, _ what: String, of owner: [UInt8], at now: Int64) -> JSONValue {
        guard let duration else { return .null }
        let name = Name(what: what, owner: owner)
        // What could have happened is 0 seconds away for as long as it does not.
        let hasCome = duration <= .zero && before[name].map { $0 <= now } ?? false
        return instant(now &+ CoreDuration(duration).nanoseconds, name, isOld: hasCome)
    }

    /// Returns an instant that was a while ago; null for none.
    mutating func ago(_ duration: Duration?, _ what: String, of owner: [UInt8], at now: Int64) -> JSONValue {
        guard let duration else { return .null }
        let name = Name(what: what, owner: owner)
        return instant(now &- CoreDuration(duration).nanoseconds, name, isOld: false)
    }

    private mutating func instant(_ new: Int64, _ name: Name, isOld: Bool) -> JSONValue {
        let old = before[name]
        let isSame = old.map { isOld || abs($0 - new) <= Self.tolerance } ?? false
        let instant = isSame ? old ?? new : new
        found[name] = instant
        return .instant(instant)
    }
}
