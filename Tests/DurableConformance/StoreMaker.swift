package import LullDurable

/// Creates the stores under test.
package protocol StoreMaker: Sendable {
    /// Opens the store with a name: an empty one the first time, and after that the existing one.
    ///
    /// - Parameters:
    ///   - place: A unique name in lower-case letters, digits and dashes.
    ///   - clock: Where the store has its time from, in every instance.
    func open(_ place: String, _ limits: DurableLimits, _ clock: StoreClock) async throws -> any StoreCalls

    /// Whether several instances with one name have the same data, at the same time or after one another.
    var isShared: Bool { get }

    /// Whether the numbers of submits and of runs follow the store's time: those of a key's submits have gaps then, and
    /// those of runs are unique in a namespace only.
    var countsByTime: Bool { get }

    /// Whether a worker takes starts from a limit before it claims, so that those of a lost answer are lost to the
    /// limit.
    var takesStartsFirst: Bool { get }

    /// The rules of the store's own data that do not hold, as far as it can tell.
    ///
    /// - Parameter isComplete: Whether no end can have been forgotten or discarded.
    func brokenRules(of store: any StoreCalls, isComplete: Bool) async throws -> [String]

    /// Removes the store with a name. All instances have been closed.
    func remove(_ place: String) async throws
}

extension StoreMaker {
    /// False: a submit is numbered one higher than the one before.
    package var countsByTime: Bool { false }

    /// False: the claim counts them.
    package var takesStartsFirst: Bool { false }

    /// No rules, for a store that cannot check any.
    package func brokenRules(of store: any StoreCalls, isComplete: Bool) -> [String] { [] }
}

/// Stores in memory, each with a single instance.
package struct MemoryMaker: StoreMaker {
    /// Creates a factory.
    package init() {}

    /// Returns an empty store.
    package func open(_ place: String, _ limits: DurableLimits, _ clock: StoreClock) -> any StoreCalls {
        MemoryStore(limits: limits, on: clock)
    }

    /// False: instances in memory share nothing.
    package var isShared: Bool { false }

    /// The invariants of the rows, and the tiling of their ranges.
    package func brokenRules(of store: any StoreCalls, isComplete: Bool) -> [String] {
        (store as? MemoryStore)?.checkInvariants(isComplete: isComplete) ?? ["it is no store in memory"]
    }

    /// Does nothing.
    package func remove(_ place: String) {}
}
