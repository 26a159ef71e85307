import Dispatch
import Lull
import Testing

/// A key that calls its debouncer when it is released: if a lock were held, for ever.
final class CallingKey: Hashable, Sendable {
    private let number: Int
    private let holder: Guarded<KeyedDebouncer<CallingKey, Int, Void>?>

    init(_ number: Int, _ holder: Guarded<KeyedDebouncer<CallingKey, Int, Void>?>) {
        self.number = number
        self.holder = holder
    }

    deinit {
        _ = holder.value?.counters
    }

    static func == (left: CallingKey, right: CallingKey) -> Bool { left.number == right.number }

    func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

/// Runs a body on a thread of its own, and fails if it has not ended within a time that is long for anything but waiting
/// for itself.
func withinReason(_ body: @escaping @Sendable () -> Void) async throws {
    let hasEnded = Guarded(false)
    DispatchQueue(label: "within reason").async {
        body()
        _ = hasEnded.exchange(true)
    }
    for _ in 0..<2000 where !hasEnded.value { try await Task.sleep(for: .milliseconds(10)) }
    try #require(hasEnded.value, "it waits for itself")
}
