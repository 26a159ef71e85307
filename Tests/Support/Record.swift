internal import Lull

/// What handlers have done, in order, from any thread.
public final class Record<Element: Sendable>: Sendable {
    private let elements = Guarded<[Element]>([])

    /// A record of nothing.
    public init() {}

    /// Adds what has been done.
    public func add(_ element: Element) {
        elements.change { $0.append(element) }
    }

    /// All that has been done.
    public var all: [Element] {
        elements.value
    }
}
