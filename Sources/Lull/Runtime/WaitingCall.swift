internal import LullCore

/// A call that waits for a debouncer, a throttler or a limiter, as a clock for tests sees it.
///
/// Only such a clock asks what it is.
package final class WaitingCall: Sendable {
    /// The place where the program makes what the call waits for.
    package let site: SourceSite
    private let describe: @Sendable () -> String
    private let timeLeft: @Sendable () -> Duration?
    /// Whether it may wait for other things than time while nothing is pending, as a sequence does for its upstream.
    package let isOpen: Bool

    /// - Parameters:
    ///   - isOpen: Whether it may wait for other things than time while nothing is pending.
    ///   - describe: Names the call and the kind of thing that it is made on.
    ///   - timeLeft: How long it is until what the call waits for falls due; nil if it has, or if nothing is pending.
    init(
        for site: SourceSite, isOpen: Bool = false, _ describe: @escaping @Sendable () -> String,
        timeLeft: @escaping @Sendable () -> Duration?
    ) {
        self.site = site
        self.isOpen = isOpen
        self.describe = describe
        self.timeLeft = timeLeft
    }

    /// Names the call and the kind of thing that it is made on. Calls code of the user's.
    package var name: String { "\(describe()), made at \(site)" }

    /// How long it is, by the clock, until what the call waits for falls due; nil if it has, or if nothing is pending.
    package var timeUntilDue: Duration? { timeLeft() }
}

extension RuntimeCore {
    /// Describes a call for all keys that waits.
    final func wait(in call: StaticString, isOpen: Bool = false) -> WaitingCall {
        WaitingCall(for: site, isOpen: isOpen) { [kind] in
            "\(call) of the \(name(of: kind))"
        } timeLeft: { [weak self] in
            self?.state.timeUntilDue
        }
    }
}

extension Runtime {
    /// Describes a call for one key that waits.
    func wait(in call: StaticString, _ key: Key) -> WaitingCall {
        // Weak: the engine keeps the promise of an outcome, and that keeps this.
        WaitingCall(for: site) { [kind] in
            "\(call) of the \(name(of: kind)) (\(describe(key, of: Value.self)))"
        } timeLeft: { [weak self] in
            self?.state(of: key).timeUntilDue
        }
    }
}
