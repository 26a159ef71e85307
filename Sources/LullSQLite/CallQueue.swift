internal import Dispatch
internal import Lull
internal import LullCore
internal import LullDurable

/// A serial queue of the calls of a store, with a thread of its own that runs SQLite.
///
/// The thread is none of the cooperative pool: it blocks while the disk works and while other processes write. It takes all calls
/// that wait into one transaction, so the cost of a commit is shared by as many calls as there are.
final class CallQueue: Sendable {
    private struct State: Sendable {
        var reads: [any PendingCall] = []
        var writes: [any PendingCall] = []
        var wakeSignal = WakeSignal()
        /// Whether the thread sleeps, or is about to, and has to be woken for a new call.
        var isParked = false
        var isClosed = false
        var hasEnded = false
        var traffic = Traffic()
        /// The calls of ``CallQueue/close()`` that wait for the end.
        var closers: [CheckedContinuation<Void, Never>] = []

        /// Removes and returns the calls that have waited longest.
        mutating func takeWrites(atMost count: Int) -> [any PendingCall] {
            let taken = Array(writes.prefix(count))
            writes.removeFirst(taken.count)
            traffic.calls += taken.count
            return taken
        }
    }

    /// How many calls have written, and in how many transactions.
    struct Traffic: Sendable {
        var calls = 0
        var transactions = 0
    }

    /// The most calls that share a transaction: an answer should not have to wait for too many others.
    static let maxBatch = 256
    /// How often the thread looks for commits of other processes while workers wait.
    static let foreignCommitInterval = DispatchTimeInterval.milliseconds(90)
    /// For how long the thread looks for the next call before it sleeps, if the one before came as soon.
    static let lingerTime = DispatchTimeInterval.microseconds(150)
    /// The time without a write after which the log is emptied.
    static let restTime = DispatchTimeInterval.seconds(1)

    private let state = Guarded(State())
    private let signal = DispatchSemaphore(value: 0)

    // MARK: - Callers

    /// Adds a call, and wakes the thread if it sleeps.
    func enqueue(_ call: any PendingCall, writes: Bool) {
        let (isClosed, wasParked) = state.change { state in
            if state.isClosed { return (true, false) }
            if writes { state.writes.append(call) } else { state.reads.append(call) }
            defer { state.isParked = false }
            return (false, state.isParked)
        }
        if isClosed { call.refuse(.closed) }
        if wasParked { signal.signal() }
    }

    /// Calls a function with the wake signal under the lock, and resumes the waiters that it has woken.
    func withWakeSignal<Answer>(_ body: (inout WakeSignal) -> Answer) -> Answer {
        let (answer, woken) = state.change { state in
            let answer = body(&state.wakeSignal)
            return (answer, state.wakeSignal.takeWoken())
        }
        for waiter in woken { waiter.resume() }
        return answer
    }

    /// Adds a worker that waits for the wake signal, and wakes the thread: it looks for commits of other processes then.
    ///
    /// - Returns: Whether the worker has to wait.
    func add(_ waiter: WakeSignal.Waiter, id: Int64, in namespace: String, after mark: Int64) -> Bool {
        let (waits, wasParked) = state.change { state in
            // A cancellation that came before found nothing to resume.
            guard !Task.isCancelled, !state.isClosed,
                state.wakeSignal.add(waiter, id: id, in: namespace, after: mark)
            else { return (false, false) }
            defer { state.isParked = false }
            return (true, state.isParked)
        }
        if wasParked { signal.signal() }
        return waits
    }

    var traffic: Traffic { state.change { $0.traffic } }

    var isClosed: Bool { state.change { $0.isClosed } }

    /// Takes no more calls. Those that wait are answered.
    func beginClosing() {
        state.change { state in
            state.isClosed = true
            state.wakeSignal.signalAll()
        }
        withWakeSignal { _ in }
        signal.signal()
    }

    /// Takes no more calls, and returns when the thread has ended.
    func close() async {
        beginClosing()
        await withCheckedContinuation { continuation in
            let hasEnded = state.change { state in
                if !state.hasEnded { state.closers.append(continuation) }
                return state.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
    }

    // MARK: - The thread

    private enum Turn {
        case work(reads: [any PendingCall], writes: [any PendingCall])
        case park
        case end
    }

    private func nextTurn() -> (turn: Turn, hasWaiters: Bool) {
        state.change { state in
            state.isParked = false
            let hasWaiters = state.wakeSignal.hasWaiters
            guard state.reads.isEmpty, state.writes.isEmpty else {
                let writes = state.takeWrites(atMost: Self.maxBatch)
                state.traffic.transactions += writes.isEmpty ? 0 : 1
                defer { state.reads = [] }
                return (.work(reads: state.reads, writes: writes), hasWaiters)
            }
            if state.isClosed { return (.end, hasWaiters) }
            state.isParked = true
            return (.park, hasWaiters)
        }
    }

    /// Runs on the thread, until the store is closed.
    func run(_ file: SQLiteFile) {
        var hasRested = true
        var lastWrite = DispatchTime.now()
        var lastAnswer = lastWrite
        var lastLook = lastWrite
        // Whether the latest call came so soon after an answer that it was worth waiting for.
        var lingers = false
        while true {
            let (turn, hasWaiters) = nextTurn()
            switch turn {
            case .work(let reads, let writes):
                if !reads.isEmpty { file.read(reads) }
                if !writes.isEmpty {
                    var room = Self.maxBatch - writes.count
                    file.write(writes) {
                        let more = state.change { $0.takeWrites(atMost: room) }
                        room -= more.count
                        return more
                    }
                    hasRested = false
                    lastWrite = .now()
                }
                lastAnswer = .now()
                if lingers { lingers = linger() }
            case .park:
                var end = hasRested ? DispatchTime.distantFuture : lastWrite + Self.restTime
                if hasWaiters { end = min(end, lastLook + Self.foreignCommitInterval) }
                if signal.wait(timeout: end) == .success {
                    lingers = .now() < lastAnswer + Self.lingerTime
                } else if !hasRested, .now() >= lastWrite + Self.restTime {
                    file.rest()
                    hasRested = true
                }
            case .end:
                file.rest()
                return
            }
            // However busy this process is, its workers may wait all the same.
            if hasWaiters, .now() >= lastLook + Self.foreignCommitInterval {
                signalForeignCommits(to: file)
                file.tend()
                lastLook = .now()
            }
        }
    }

    /// Looks for the next call for a while: to be woken takes longer than all else in a short transaction.
    ///
    /// - Returns: Whether there is one.
    private func linger() -> Bool {
        let end = DispatchTime.now() + Self.lingerTime
        repeat {
            if state.change({ !$0.reads.isEmpty || !$0.writes.isEmpty }) { return true }
        } while .now() < end
        return false
    }

    /// Resumes the calls of ``close()``. The thread has ended, and the file is closed.
    func end() {
        let closers = state.change { state in
            state.hasEnded = true
            defer { state.closers = [] }
            return state.closers
        }
        for closer in closers { closer.resume() }
    }

    /// Wakes workers for what other processes have committed.
    private func signalForeignCommits(to file: SQLiteFile) {
        do throws(DurableError) {
            guard try file.hasForeignCommits() else { return }
            for name in state.change({ $0.wakeSignal.namespaces }) {
                let next = try file.read { transaction throws(DurableError) in try transaction.nextWake(in: name) }
                if let next { withWakeSignal { $0.signal(next, in: name) } }
            }
        } catch {
            // The workers find out for themselves what is wrong.
            withWakeSignal { $0.signalAll() }
        }
    }
}
