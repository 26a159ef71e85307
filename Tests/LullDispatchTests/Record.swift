import Lull

/// What closures have done, in order, from any thread.
final class Record<Element: Sendable>: Sendable {
    private let elements = Guarded<[Element]>([])

    func add(_ element: Element) {
        elements.change { $0.append(element) }
    }

    var all: [Element] {
        elements.value
    }
}
