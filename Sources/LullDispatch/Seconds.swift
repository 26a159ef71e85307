internal import Foundation
internal import Lull

extension Duration {
    /// The delay of a single call: negative and NaN count as zero, infinity as the far future (<doc:Semantics>, section
    /// 10).
    init(delay seconds: TimeInterval) {
        if seconds.isNaN || seconds <= 0 {
            self = .zero
        } else {
            // Beyond nine billion seconds nanoseconds no longer fit: it is the far future all the same.
            self = .nanoseconds(seconds >= 9e9 ? .max : Int64(seconds * 1e9))
        }
    }

    /// A setting: anything but a finite length of zero or more stops the program with what was given and what is
    /// allowed.
    init(setting seconds: TimeInterval, _ name: StaticString) {
        require(
            seconds.isFinite && seconds >= 0, "the \(name) is \(seconds) s, but must be finite and zero or more")
        self.init(delay: seconds)
    }
}
