internal import Foundation
internal import Lull

extension Duration {
    /// Creates the delay of a single call: negative and NaN count as zero, infinity as the far future (<doc:Semantics>,
    /// section 10).
    init(delay seconds: TimeInterval) {
        if seconds.isNaN || seconds <= 0 {
            self = .zero
        } else {
            // Nanoseconds overflow beyond nine billion seconds, which is the far future anyway.
            self = .nanoseconds(seconds >= 9e9 ? .max : Int64(seconds * 1e9))
        }
    }

    /// Creates a setting. Unless it is finite and zero or more, the program stops with the value and the rule.
    init(setting seconds: TimeInterval, _ name: StaticString, at site: SourceSite) {
        require(
            seconds.isFinite && seconds >= 0, "the \(name) is \(seconds) s, but must be finite and zero or more",
            at: site)
        self.init(delay: seconds)
    }
}
