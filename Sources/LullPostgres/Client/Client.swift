internal import CLullPostgres
internal import Foundation
internal import Lull
internal import LullDurable

/// The calls of a store, and the thread that makes them: it waits for several connections at once, and never for one of them.
///
/// Submits share statements (``SubmitQueue``). Other calls are sent one after the other over the connection of their role.
final class Client: Sendable {
    /// What a connection is used for, so that one kind of call does not wait for another.
    enum Role: Sendable {
        /// The calls of workers.
        case work
        /// All calls but submits and those of workers.
        case questions
    }

    /// The end of a call.
    enum Answer: Sendable {
        case rows(Rows)
        case error(ServerError)
        case unreached(String)
        case lost(String)
        case closed
    }

    struct Call: Sendable {
        let statement: Statement
        let role: Role
        let isRepeatable: Bool
        let deadline: ContinuousClock.Instant
        let answer: @Sendable (Answer) -> Void
    }

    private struct Inbox: Sendable {
        var submits: [SubmitQueue.Entry] = []
        var calls: [Call] = []
        var listens = false
        var isClosed = false
        var hasEnded = false
        /// The calls of ``Client/close()`` that wait for the thread to end.
        var closers: [CheckedContinuation<Void, Never>] = []
    }

    /// What the thread takes at once.
    struct Mail {
        var submits: [SubmitQueue.Entry]
        var calls: [Call]
        var listens: Bool
        var isClosed: Bool
    }

    private let inbox = Guarded(Inbox())
    /// Wakes the thread: it reads from the first descriptor, and callers write to the second.
    private let reading: Int32
    private let writing: Int32

    /// Starts the thread.
    ///
    /// - Parameter notified: Receives the namespaces in which something may be due, and nil if notifications may have been
    ///   missed.
    init(
        _ url: ConnectionURL, now: (@Sendable () -> Int64)?, notified: @escaping @Sendable (String?) -> Void
    ) throws(DurableError) {
        var descriptors: [Int32] = [-1, -1]
        guard pipe(&descriptors) == 0 else { throw .unusable("no descriptors are left") }
        (reading, writing) = (descriptors[0], descriptors[1])
        for descriptor in descriptors {
            _ = lull_pq_not_blocking(descriptor)
        }
        let thread = Thread { [self] in
            ClientLoop(url, now: now, notified: notified).run(self)
            end()
        }
        thread.name = "lull-postgres"
        thread.start()
    }

    deinit {
        Glibc.close(reading)
        Glibc.close(writing)
    }

    // MARK: - Callers

    /// Adds a submit; false if the client is closed.
    func add(_ entry: SubmitQueue.Entry) -> Bool {
        let (isAdded, wakes) = inbox.change { inbox in
            if inbox.isClosed { return (false, false) }
            defer { inbox.submits.append(entry) }
            return (true, inbox.submits.isEmpty && inbox.calls.isEmpty)
        }
        if wakes { wake() }
        return isAdded
    }

    /// Makes a call, and waits for its answer.
    func call(
        _ statement: Statement, _ role: Role, isRepeatable: Bool, atMost time: Duration
    ) async -> Answer {
        await withCheckedContinuation { continuation in
            add(statement, role, isRepeatable: isRepeatable, atMost: time) { continuation.resume(returning: $0) }
        }
    }

    /// Makes a call, and returns at once.
    func add(
        _ statement: Statement, _ role: Role, isRepeatable: Bool, atMost time: Duration,
        _ answer: @escaping @Sendable (Answer) -> Void
    ) {
        let call = Call(
            statement: statement, role: role, isRepeatable: isRepeatable, deadline: .now + time, answer: answer)
        let (isAdded, wakes) = inbox.change { inbox in
            if inbox.isClosed { return (false, false) }
            defer { inbox.calls.append(call) }
            return (true, inbox.submits.isEmpty && inbox.calls.isEmpty)
        }
        if !isAdded { answer(.closed) }
        if wakes { wake() }
    }

    /// Listens to notifications from now on.
    func listen() {
        let wakes = inbox.change { inbox in
            defer { inbox.listens = true }
            return !inbox.listens
        }
        if wakes { wake() }
    }

    var isClosed: Bool { inbox.change { $0.isClosed } }

    /// Refuses new calls. Earlier ones are answered.
    func beginClosing() {
        inbox.change { $0.isClosed = true }
        wake()
    }

    /// Refuses new calls, and returns when the earlier ones have been answered and the connections closed.
    func close() async {
        beginClosing()
        await withCheckedContinuation { continuation in
            let hasEnded = inbox.change { inbox in
                if !inbox.hasEnded { inbox.closers.append(continuation) }
                return inbox.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
    }

    private func wake() {
        var byte: UInt8 = 0
        _ = write(writing, &byte, 1)
    }

    // MARK: - The thread

    /// Takes the calls that were added.
    func takeMail() -> Mail {
        inbox.change { inbox in
            defer {
                inbox.submits = []
                inbox.calls = []
            }
            return Mail(
                submits: inbox.submits, calls: inbox.calls, listens: inbox.listens, isClosed: inbox.isClosed)
        }
    }

    /// Waits until a descriptor is ready, a call is added, or an instant has come; returns the indices of those that are ready.
    func wait(for descriptors: [(number: Int32, wait: Connection.Wait)], until deadline: ContinuousClock.Instant?)
        -> [Int]
    {
        var polled = descriptors.map { pollfd(fd: $0.number, events: $0.wait.events, revents: 0) }
        polled.append(pollfd(fd: reading, events: Int16(POLLIN), revents: 0))
        var timeout: Int32 = -1
        if let deadline {
            let (seconds, attoseconds) = (deadline - .now).components
            // Rounded up: a wait that ends too early would be repeated at once.
            timeout = Int32(clamping: max(0, seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1))
        }
        guard poll(&polled, nfds_t(polled.count), timeout) > 0 else { return [] }
        if polled[descriptors.count].revents != 0 {
            var bytes = [UInt8](repeating: 0, count: 64)
            while read(reading, &bytes, bytes.count) == bytes.count {}
        }
        return descriptors.indices.filter { polled[$0].revents != 0 }
    }

    private func end() {
        let closers = inbox.change { inbox in
            inbox.hasEnded = true
            defer { inbox.closers = [] }
            return inbox.closers
        }
        for closer in closers { closer.resume() }
    }
}

extension Connection.Wait {
    fileprivate var events: Int16 {
        switch self {
        case .reading: Int16(POLLIN)
        // A server that refuses a statement answers before it has read all of it.
        case .writing: Int16(POLLIN | POLLOUT)
        case .none: 0
        }
    }
}
