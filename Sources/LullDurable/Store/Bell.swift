package import LullCore

/// Wakes workers of this process when there is something to claim earlier than they were told.
///
/// A value that a store keeps under its lock; who is to be woken is handed out and resumed after the lock was let go.
package struct Bell: Sendable {
    package typealias Sleeper = CheckedContinuation<Void, Never>

    private struct Line {
        /// Counts how often it has rung.
        var mark: Int64 = 0
        /// The instant that the worker was last told to come back at.
        var told = CoreInstant.farPast
        var sleepers: [Int64: Sleeper] = [:]
    }

    private var lines: [String: Line] = [:]
    private var numbers: Int64 = 0
    private var woken: [Sleeper] = []

    package init() {}

    /// A worker was told that there is nothing to claim before this instant. Others that were told a later one are woken, to
    /// be told again: the lease of the run that this worker has just claimed may end while it is busy.
    ///
    /// - Returns: The mark that it waits after.
    package mutating func tell(_ next: CoreInstant?, in namespace: String) -> Int64 {
        ring(next ?? .farFuture, in: namespace)
        lines[namespace, default: Line()].told = next ?? .farFuture
        return lines[namespace]?.mark ?? 0
    }

    /// Something can be claimed from this instant on.
    package mutating func ring(_ wake: CoreInstant, in namespace: String) {
        guard var line = lines[namespace], wake < line.told else { return }
        line.told = wake
        line.mark += 1
        woken += line.sleepers.values
        line.sleepers = [:]
        lines[namespace] = line
    }

    /// Anything may have happened.
    package mutating func ringEverywhere() {
        for namespace in lines.keys { ring(.farPast, in: namespace) }
        for namespace in lines.keys { lines[namespace]?.told = .farFuture }
    }

    /// Who is to be resumed now.
    package mutating func takeWoken() -> [Sleeper] {
        defer { woken = [] }
        return woken
    }

    /// A number for somebody who is going to sleep.
    package mutating func number() -> Int64 {
        numbers += 1
        return numbers
    }

    /// Keeps a sleeper until it rings after `mark`.
    ///
    /// - Returns: Whether it has to sleep: it has not rung since.
    package mutating func lay(_ sleeper: Sleeper, _ number: Int64, in namespace: String, after mark: Int64) -> Bool {
        guard lines[namespace, default: Line()].mark <= mark else { return false }
        lines[namespace, default: Line()].sleepers[number] = sleeper
        return true
    }

    /// Takes a sleeper out that will not wait any longer.
    package mutating func raise(_ number: Int64, in namespace: String) -> Sleeper? {
        lines[namespace]?.sleepers.removeValue(forKey: number)
    }

    /// The namespaces in which workers have been told something.
    package var namespaces: [String] { Array(lines.keys) }

    /// Whether anybody sleeps.
    package var hasSleepers: Bool { lines.values.contains { !$0.sleepers.isEmpty } }
}

extension Bell {
    /// Sleeps until the bell rings, the time is up, or the task is cancelled.
    ///
    /// - Parameters:
    ///   - lay: Lays the sleeper down, under the lock of the store, if it has to sleep; says whether it has. It does not where
    ///     the task has been cancelled: that found nobody to wake.
    ///   - raise: Takes the sleeper out again.
    package static func wait(
        atMost time: Duration, by clock: StoreClock, lay: @escaping @Sendable (Sleeper) -> Bool,
        raise: @escaping @Sendable () -> Sleeper?
    ) async {
        await withTaskGroup { group in
            group.addTask {
                await withTaskCancellationHandler {
                    await withCheckedContinuation { sleeper in
                        if !lay(sleeper) { sleeper.resume() }
                    }
                } onCancel: {
                    raise()?.resume()
                }
            }
            group.addTask { try? await clock.sleep(time) }
            await group.next()
            group.cancelAll()
        }
    }
}
