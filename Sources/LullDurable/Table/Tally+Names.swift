// The counts by name, as stores keep them.

extension Tally {
    /// The counts with their names, in the order in which stores have them.
    private static var places: [(name: String, count: WritableKeyPath<Tally, Int>)] {
        [
            ("pending", \.pending), ("ready", \.ready), ("running", \.running), ("retrying", \.retrying),
            ("due", \.due), ("replaced", \.replaced),
        ]
    }

    /// The names of the counts.
    package static let names = places.map(\.name)

    /// Creates the counts that a store has, in the order of their names.
    package init(_ counts: [Int]) {
        for (count, place) in zip(counts, Self.places) { self[keyPath: place.count] = count }
    }

    /// The counts in the order of their names.
    package var counts: [Int] { [pending, ready, running, retrying, due, replaced] }

    /// The count of a name; other names are ignored.
    package subscript(name: String) -> Int {
        get { Self.places.first { $0.name == name }.map { self[keyPath: $0.count] } ?? 0 }
        set { if let place = Self.places.first(where: { $0.name == name }) { self[keyPath: place.count] = newValue } }
    }
}
