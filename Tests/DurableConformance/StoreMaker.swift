public import LullDurable

/// How the suite comes to the stores that it examines.
public protocol StoreMaker: Sendable {
    /// Opens the store at a place: an empty one the first time, and after that what is there.
    ///
    /// - Parameters:
    ///   - place: A name in small letters, digits and dashes that nobody else uses.
    ///   - clock: Where the store has its time from, in every instance.
    func open(_ place: String, _ limits: DurableLimits, _ clock: StoreClock) async throws -> any DurableStore

    /// Whether several instances at one place have the same data, at the same time or after one another.
    var isShared: Bool { get }

    /// The rules of the store's own data that do not hold, as far as it can tell.
    ///
    /// - Parameter isComplete: Whether no end can have been forgotten or discarded.
    func brokenRules(of store: any DurableStore, isComplete: Bool) async throws -> [String]

    /// Removes what is at a place. All instances have been closed.
    func remove(_ place: String) async throws
}

extension StoreMaker {
    /// A store that cannot tell.
    public func brokenRules(of store: any DurableStore, isComplete: Bool) -> [String] { [] }
}

/// Stores in memory: one instance is all there is of each.
public struct MemoryMaker: StoreMaker {
    /// There is nothing to say.
    public init() {}

    /// An empty store.
    public func open(_ place: String, _ limits: DurableLimits, _ clock: StoreClock) -> any DurableStore {
        MemoryStore(limits: limits, clock: clock)
    }

    /// They are not.
    public var isShared: Bool { false }

    /// Those of the rows, and how their ranges tile.
    public func brokenRules(of store: any DurableStore, isComplete: Bool) -> [String] {
        (store as? MemoryStore)?.checkInvariants(isComplete: isComplete) ?? ["it is no store in memory"]
    }

    /// There is nothing to remove.
    public func remove(_ place: String) {}
}
