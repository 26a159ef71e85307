internal import CLullPolling
internal import Foundation
internal import Lull

/// The thread of a store, on which SQLite runs, or which talks to servers: not one of the cooperative pool, since it
/// blocks.
///
/// Callers add calls from any thread, each with a closure for its answer. The thread runs a loop: it takes the calls
/// that were added, makes them or sends what can be sent, and waits until a connection is ready or a call is added.
package final class StoreThread<Call: Sendable>: Sendable {
    private struct Inbox: Sendable {
        var calls: [Call] = []
        var isClosed = false
        var hasEnded = false
        /// The calls of ``StoreThread/close()`` that wait for the thread to end.
        var closers: [CheckedContinuation<Void, Never>] = []
    }

    private let inbox = Guarded(Inbox())
    /// Wakes the thread: it reads from the first descriptor, and callers write to the second.
    private let reading: Int32
    private let writing: Int32

    /// Starts the thread.
    ///
    /// - Parameter run: Makes calls until the thread is closed and all have been answered.
    package init(
        _ name: String, _ run: @escaping @Sendable (StoreThread) -> Void
    ) throws(DurableError) {
        var descriptors: [Int32] = [-1, -1]
        guard lull_make_pipe(&descriptors) == 0 else { throw .unusable("no descriptors are left") }
        (reading, writing) = (descriptors[0], descriptors[1])
        let thread = Thread { [self] in
            // A server that ends while something is sent to it must not end this process.
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            run(self)
            end()
        }
        thread.name = name
        thread.start()
    }

    deinit {
        lull_close(reading)
        lull_close(writing)
    }

    // MARK: - Callers

    /// Adds a call; false if the thread takes no more.
    package func add(_ call: Call) -> Bool {
        let (isAdded, wakes) = inbox.change { inbox in
            if inbox.isClosed { return (false, false) }
            defer { inbox.calls.append(call) }
            return (true, inbox.calls.isEmpty)
        }
        if wakes { lull_write_byte(writing) }
        return isAdded
    }

    package var isClosed: Bool { inbox.change { $0.isClosed } }

    /// Lets the thread look around, if it sleeps.
    package func wake() { lull_write_byte(writing) }

    /// Refuses new calls. Earlier ones are answered.
    package func beginClosing() {
        inbox.change { $0.isClosed = true }
        lull_write_byte(writing)
    }

    /// Refuses new calls, and returns when the earlier ones have been answered and the thread has ended.
    package func close() async {
        beginClosing()
        await withCheckedContinuation { continuation in
            let hasEnded = inbox.change { inbox in
                if !inbox.hasEnded { inbox.closers.append(continuation) }
                return inbox.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
    }

    // MARK: - The thread

    /// Takes the calls that were added.
    package func takeCalls() -> (calls: [Call], isClosed: Bool) {
        inbox.change { inbox in
            defer { inbox.calls = [] }
            return (inbox.calls, inbox.isClosed)
        }
    }

    /// Waits until a descriptor is ready, a call is added, or an instant has come; returns the indices of those that
    /// are ready.
    package func wait(
        for descriptors: [(number: Int32, wait: DescriptorWait)], until deadline: ContinuousClock.Instant?
    ) -> [Int] {
        var polled = descriptors.map { pollfd(fd: $0.number, events: $0.wait.events, revents: 0) }
        polled.append(pollfd(fd: reading, events: Int16(POLLIN), revents: 0))
        var timeout: Int32 = -1
        if let deadline {
            let (seconds, attoseconds) = (deadline - .now).components
            // Rounded up: a wait that ends too early would be repeated at once.
            timeout = Int32(clamping: max(0, seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1))
        }
        guard poll(&polled, nfds_t(polled.count), timeout) > 0 else { return [] }
        if polled[descriptors.count].revents != 0 { lull_drain(reading) }
        return descriptors.indices.filter { polled[$0].revents != 0 }
    }

    /// Lets other threads run that are ready.
    func yield() { sched_yield() }

    /// Waits until a call is added, or an instant has come.
    package func wait(until deadline: ContinuousClock.Instant?) { _ = wait(for: [], until: deadline) }

    private func end() {
        let closers = inbox.change { inbox in
            inbox.hasEnded = true
            defer { inbox.closers = [] }
            return inbox.closers
        }
        for closer in closers { closer.resume() }
    }
}

/// What a descriptor is to be ready for.
package enum DescriptorWait: Sendable {
    case reading
    case writing

    fileprivate var events: Int16 {
        switch self {
        case .reading: Int16(POLLIN)
        // A server that refuses a statement answers before it has read all of it.
        case .writing: Int16(POLLIN | POLLOUT)
        }
    }
}
