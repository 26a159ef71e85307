internal import LullCore

/// The executions for which this machine lacks descriptors, processes or memory, in the order in which they start.
///
/// The end of a command may make room, and so may other programs. So the first execution is tried again whenever a
/// command has ended, and after a pause. It is tried alone: the next one follows when it has started.
struct WaitingStarts {
    private(set) var items: [PreparedCommand] = []
    /// When to try the first one again.
    private(set) var nextTry = CoreInstant.farFuture
    private var pause = WaitingStarts.shortestPause
    /// Since when starts have failed although no command ran, whose end could make room.
    private var failingSince: CoreInstant?

    private static let shortestPause = CoreDuration.milliseconds(20)
    private static let longestPause = CoreDuration.seconds(1)
    /// For how long starts may fail while no command runs.
    static let patience = CoreDuration.seconds(5)

    var isEmpty: Bool { items.isEmpty }

    /// Adds an execution behind the others.
    mutating func append(_ item: PreparedCommand) {
        items.append(item)
    }

    /// Puts executions that could not be started back in front of the others.
    ///
    /// - Parameter isAlone: Whether no command runs.
    /// - Returns: Those of all that wait that are to wait no longer. Others may execute what comes from a store.
    mutating func putBack(_ failed: [PreparedCommand], isAlone: Bool, at now: CoreInstant) -> [PreparedCommand] {
        items = failed + items
        nextTry = now.advanced(by: pause)
        pause = min(.nanoseconds(2 * pause.nanoseconds), Self.longestPause)
        failingSince = isAlone ? failingSince ?? now : nil
        guard let failingSince else { return [] }
        let isHopeless = failingSince.advanced(by: Self.patience) <= now
        return removeAll { isHopeless || $0.isStored }
    }

    /// Takes the first execution if it is time to try it.
    mutating func next(at now: CoreInstant) -> PreparedCommand? {
        nextTry <= now && !items.isEmpty ? items.removeFirst() : nil
    }

    /// Notes that an execution has started, so that others may.
    mutating func started() {
        pause = Self.shortestPause
        failingSince = nil
        commandEnded()
    }

    mutating func commandEnded() {
        if !items.isEmpty { nextTry = .farPast }
    }

    mutating func removeAll(where isMeant: (PreparedCommand) -> Bool = { _ in true }) -> [PreparedCommand] {
        defer {
            items.removeAll(where: isMeant)
            if items.isEmpty { nextTry = .farFuture }
        }
        return items.filter(isMeant)
    }
}
