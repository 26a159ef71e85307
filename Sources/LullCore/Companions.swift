/// What goes through an engine beside a value: for `Lull` the promise of its outcome. Where all values are kept it has
/// them as well: ``Collected``.
@usableFromInline package typealias Companion = AnyObject

/// The companions of values that are kept together.
@usableFromInline
package class Companions: @unchecked Sendable {
    // Proof of @unchecked Sendable: only what holds the values, under its driver's lock or alone, changes them.

    /// In order; empty while none of the values has one.
    // The driver's lock excludes overlapping accesses to these; the language's check of that took a fifth of a submit.
    @exclusivity(unchecked) @usableFromInline package final var all: [Companion?] = []
    /// The number of the first entries of ``all`` whose values are gone; they are nil.
    private final var goneCount = 0

    package init(_ all: [Companion?] = []) { self.all = all }

    /// The companion of the first value.
    final var first: Companion? { goneCount < all.count ? all[goneCount] : nil }

    /// Removes and returns the companions of the first values.
    fileprivate final func takeFirst(_ count: Int) -> [Companion?] {
        var taken: [Companion?] = []
        for index in goneCount..<goneCount + count {
            taken.append(all[index])
            all[index] = nil
        }
        goneCount += count
        // Each moves at most twice.
        if goneCount > all.count / 2 { forgetGone() }
        return taken
    }

    fileprivate final func forgetGone() {
        all.removeFirst(goneCount)
        goneCount = 0
    }
}

/// The values of one execution, where all are kept, in order (<doc:Semantics>, sections 7 and 8).
@usableFromInline
package final class Collected<Value>: Companions, @unchecked Sendable {
    // Proof of @unchecked Sendable: see the superclass.

    /// The first values, in reverse: parts are taken from the end, which moves each value out once.
    @exclusivity(unchecked) private var front: [Value] = []
    /// The later ones.
    @exclusivity(unchecked) @usableFromInline var back: [Value]

    init(_ value: Value, _ companion: Companion?) {
        back = [value]
        super.init()
        if let companion { all = [companion] }
    }

    package init(all values: [Value]) {
        back = values
    }

    package var count: Int { front.count + back.count }

    /// All values.
    package var values: [Value] { front.isEmpty ? back : front.reversed() + back }

    @inlinable
    func append(_ value: Value, _ companion: Companion?) {
        if companion != nil || !all.isEmpty {
            fillCompanions()
            all.append(companion)
        }
        back.append(value)
    }

    /// Adds later values, whose holder is released then.
    func append(_ later: Collected) {
        addCompanions(of: later, behind: true)
        back.append(contentsOf: later.values)
    }

    /// Adds earlier values.
    func prepend(_ earlier: Collected) {
        addCompanions(of: earlier, behind: false)
        front.append(contentsOf: earlier.values.reversed())
    }

    private func addCompanions(of other: Collected, behind: Bool) {
        guard !all.isEmpty || !other.all.isEmpty else { return }
        fillCompanions()
        other.fillCompanions()
        other.forgetGone()
        if behind {
            all.append(contentsOf: other.all)
        } else {
            forgetGone()
            all = other.all + all
        }
    }

    /// Has an entry for every value.
    @usableFromInline
    func fillCompanions() {
        if all.isEmpty { all = Array(repeating: nil, count: count) }
    }

    /// Removes and returns the first values, fewer than all. The first time, all are moved.
    func takeFirst(_ count: Int) -> Collected {
        if front.count < count {
            front = back.reversed() + front
            back = []
        }
        var values: [Value] = []
        for _ in 0..<count { values.append(front.removeLast()) }
        let part = Collected(all: values)
        if !all.isEmpty {
            part.all = takeFirst(count)
        }
        return part
    }
}
