internal import LullCore

/// The sleeps of a client or of the scheduler that are under way.
///
/// None is cancelled because an earlier or a later one is needed: Swift keeps the memory of a cancelled sleep until its end. One
/// that ends too early is good enough, since another can follow it; one for a later instant goes on meanwhile, and is there when
/// it is needed. So a sleep is started only if all others end too late.
struct Sleeps<Handle> {
    /// By their ends, the earliest last. There is one for each end.
    private(set) var all: [(end: CoreInstant, handle: Handle)] = []

    /// Whether none ends by the instant, or up to `slack` later.
    func needsAnother(until instant: CoreInstant, slack: CoreDuration = .zero) -> Bool {
        instant.advanced(by: slack) < all.last?.end ?? .farFuture
    }

    /// Adds a sleep that ``needsAnother(until:slack:)`` has asked for.
    mutating func begin(until end: CoreInstant, _ handle: Handle) {
        all.append((end, handle))
    }

    /// Removes the sleep with that end, which is over.
    mutating func end(_ end: CoreInstant) {
        all.removeAll { $0.end == end }
    }
}
