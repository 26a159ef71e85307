internal import Lull

/// A thread-safe record of what handlers have done, in order.
public final class Record<Element: Sendable>: Sendable {
    private let elements = Guarded<[Element]>([])

    /// Creates an empty record.
    public init() {}

    /// Adds an element.
    public func add(_ element: Element) {
        elements.change { $0.append(element) }
    }

    /// All elements, in order.
    public var all: [Element] {
        elements.value
    }
}
