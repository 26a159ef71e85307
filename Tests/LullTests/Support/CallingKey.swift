import Dispatch
import Lull
import TestSupport
import Testing

/// A key, or a value, that calls something when it is released: if that takes a lock that is held, forever.
final class CallingKey: Hashable, Sendable {
    private let number: Int
    private let onRelease: @Sendable () -> Void

    init(_ number: Int, _ onRelease: @escaping @Sendable () -> Void) {
        self.number = number
        self.onRelease = onRelease
    }

    deinit {
        onRelease()
    }

    static func == (left: CallingKey, right: CallingKey) -> Bool { left.number == right.number }

    func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

/// Runs a body on a thread of its own, and fails if it has not ended within a time that is long for anything but
/// waiting for itself.
func withinReason(_ body: @escaping @Sendable () -> Void) async throws {
    let hasEnded = Guarded(false)
    DispatchQueue(label: "within reason").async {
        body()
        _ = hasEnded.exchange(true)
    }
    try await waitUntil { hasEnded.value }
}
