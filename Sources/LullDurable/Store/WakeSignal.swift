package import Lull
package import LullCore

/// A wake-up signal for workers of this process: there is something to claim earlier than the instant that was
/// announced to them, or a run of theirs may have been interrupted.
///
/// A store has this value under its lock, and resumes the woken waiters after releasing the lock.
package struct WakeSignal: Sendable {
    package typealias Waiter = CheckedContinuation<Void, Never>

    /// What a worker waits for.
    package enum Subject: Hashable, Sendable {
        /// Something to claim.
        case work
        /// An interruption of its runs.
        case interruptions
    }

    private struct Place: Hashable {
        var namespace: String
        var subject: Subject
    }

    private struct Channel {
        /// The number of times that the signal was given.
        var mark: Int64 = 0
        /// The instant before which workers know that there is nothing to claim.
        var announced = CoreInstant.farPast
        /// Whether workers know that the namespace is paused: no wake-up instant is early enough then.
        var isPaused = false
        var waiters: [Int64: Waiter] = [:]
    }

    private var channels: [Place: Channel] = [:]
    private var latestID: Int64 = 0
    private var woken: [Waiter] = []

    package init() {}

    /// Announces to a worker that there is nothing to claim before an instant. Wakes other workers to which a later
    /// instant was announced: the lease of the run that this worker has just claimed may end while it is busy.
    ///
    /// - Parameters:
    ///   - next: The instant; nil for never.
    ///   - namespace: The name of the namespace.
    ///   - isPaused: Whether the worker learns that the namespace is paused.
    /// - Returns: The mark after which the worker waits.
    package mutating func announce(_ next: CoreInstant?, in namespace: String, isPaused: Bool = false) -> Int64 {
        signal(next ?? .farFuture, in: namespace)
        let place = Place(namespace: namespace, subject: .work)
        channels[place, default: Channel()].announced = next ?? .farFuture
        channels[place]?.isPaused = isPaused
        return channels[place]?.mark ?? 0
    }

    /// Wakes the workers of a namespace that is not paused, if they were told that it is.
    package mutating func signalResumption(in namespace: String) {
        if channels[Place(namespace: namespace, subject: .work)]?.isPaused == true { signal(.farPast, in: namespace) }
    }

    /// Returns the mark after which a worker waits for an interruption, when it has looked at its runs.
    package mutating func announceLook(in namespace: String) -> Int64 {
        let place = Place(namespace: namespace, subject: .interruptions)
        channels[place, default: Channel()].announced = .farFuture
        return channels[place]?.mark ?? 0
    }

    /// Wakes the workers of a namespace if something can be claimed from an instant that is earlier than announced.
    package mutating func signal(_ wake: CoreInstant, in namespace: String) {
        signal(wake, at: Place(namespace: namespace, subject: .work))
    }

    /// Wakes the workers of a namespace that wait for an interruption.
    package mutating func signalInterruption(in namespace: String) {
        signal(.farPast, at: Place(namespace: namespace, subject: .interruptions))
    }

    private mutating func signal(_ wake: CoreInstant, at place: Place) {
        guard var channel = channels[place], wake < channel.announced, !channel.isPaused || wake == .farPast else {
            return
        }
        channel.announced = wake
        channel.isPaused = false
        channel.mark += 1
        woken += channel.waiters.values
        channel.waiters = [:]
        channels[place] = channel
    }

    /// Wakes the workers of the namespaces to which a step has written.
    package mutating func signal(_ written: WrittenWakes) {
        for (namespace, wake) in written.earliest { signal(wake, in: namespace) }
        for namespace in written.interrupted { signalInterruption(in: namespace) }
    }

    /// Wakes all workers of a namespace, whatever they wait for.
    package mutating func signalAll(in namespace: String) {
        signal(.farPast, in: namespace)
        signalInterruption(in: namespace)
    }

    /// Wakes all workers, whatever may have happened.
    package mutating func signalAll() {
        for place in channels.keys { signal(.farPast, at: place) }
        for place in channels.keys { channels[place]?.announced = .farFuture }
    }

    /// Removes and returns the waiters to be resumed now.
    package mutating func takeWoken() -> [Waiter] {
        defer { woken = [] }
        return woken
    }

    /// Returns an identifier for a waiter.
    package mutating func makeID() -> Int64 {
        latestID += 1
        return latestID
    }

    /// Adds a waiter until the signal is given after `mark`.
    ///
    /// - Returns: Whether the waiter has to wait: false if the signal has been given since.
    package mutating func add(
        _ waiter: Waiter, id: Int64, for subject: Subject = .work, in namespace: String, after mark: Int64
    ) -> Bool {
        let place = Place(namespace: namespace, subject: subject)
        guard channels[place, default: Channel()].mark <= mark else { return false }
        channels[place, default: Channel()].waiters[id] = waiter
        return true
    }

    /// Removes a waiter, and returns it if it still waits.
    package mutating func remove(id: Int64, for subject: Subject = .work, in namespace: String) -> Waiter? {
        channels[Place(namespace: namespace, subject: subject)]?.waiters.removeValue(forKey: id)
    }

    /// The namespaces in which anything to claim was announced.
    package var namespaces: [String] { channels.keys.filter { $0.subject == .work }.map(\.namespace) }

    /// The namespaces in which workers look for interruptions.
    package var lookedAt: [String] { channels.keys.filter { $0.subject == .interruptions }.map(\.namespace) }

    /// Whether there is any waiter.
    package var hasWaiters: Bool { channels.values.contains { !$0.waiters.isEmpty } }
}

extension WakeSignal {
    /// Waits until the signal is given, the time is up, or the task is cancelled.
    ///
    /// - Parameters:
    ///   - add: Adds the waiter under the lock of the store, and returns whether it has to wait. It returns false if
    ///     the task has been cancelled: the cancellation has found nothing to resume.
    ///   - remove: Removes the waiter.
    package static func wait(
        atMost time: Duration, by clock: StoreClock, add: @escaping @Sendable (Waiter) -> Bool,
        remove: @escaping @Sendable () -> Waiter?
    ) async {
        await withTaskGroup { group in
            group.addTask {
                await withTaskCancellationHandler {
                    await withCheckedContinuation { waiter in
                        if !add(waiter) { waiter.resume() }
                    }
                } onCancel: {
                    remove()?.resume()
                }
            }
            group.addTask { try? await clock.sleep(time) }
            await group.next()
            group.cancelAll()
        }
    }
}

/// What a store knows in this process, with the signal for which its workers wait.
package protocol WakingState: Sendable {
    var wakeSignal: WakeSignal { get set }
}

extension Guarded where Value: WakingState {
    /// Changes the state, and then resumes the workers that were woken.
    @discardableResult
    package func changeAndWake<Answer>(_ body: (inout Value) -> Answer) -> Answer {
        let (answer, woken) = change { state in
            let answer = body(&state)
            return (answer, state.wakeSignal.takeWoken())
        }
        for waiter in woken { waiter.resume() }
        return answer
    }

    /// Wakes the workers of this process that were told of a later instant.
    package func signal(_ wake: CoreInstant, in namespace: String) {
        changeAndWake { $0.wakeSignal.signal(wake, in: namespace) }
    }

    /// Waits for something to claim: see ``DurableStore/wait(in:after:atMost:)``.
    ///
    /// - Parameter isClosed: Whether the store takes no more calls. Called under the lock.
    package func wait(
        for subject: WakeSignal.Subject = .work, in namespace: String, after mark: Int64, atMost time: Duration,
        by clock: StoreClock, unless isClosed: @escaping @Sendable (Value) -> Bool
    ) async {
        let id = change { $0.wakeSignal.makeID() }
        await WakeSignal.wait(atMost: time, by: clock) { waiter in
            self.change { state in
                !Task.isCancelled && !isClosed(state)
                    && state.wakeSignal.add(waiter, id: id, for: subject, in: namespace, after: mark)
            }
        } remove: {
            self.change { $0.wakeSignal.remove(id: id, for: subject, in: namespace) }
        }
    }
}
