internal import Dispatch
internal import Lull
internal import LullCore
internal import LullDurable

/// A serial queue of the calls of a store, with a thread of its own that runs SQLite.
///
/// The thread is not one of the cooperative pool: it blocks while the disk works and while other processes write. It
/// makes all pending calls in one transaction, so that they share the cost of the commit.
final class CallQueue: Sendable {
    private struct State: WakingState {
        var reads: [StoreCall] = []
        var writes: [StoreCall] = []
        var wakeSignal = WakeSignal()
        /// Whether the thread sleeps or is about to: a new call has to wake it.
        var isParked = false
        var isClosed = false
        var hasEnded = false
        /// The calls of ``CallQueue/close()`` that wait for the thread to end.
        var closers: [CheckedContinuation<Void, Never>] = []

        /// Removes and returns the writing calls that have waited longest.
        mutating func takeWrites(atMost count: Int) -> [StoreCall] {
            let taken = Array(writes.prefix(count))
            writes.removeFirst(taken.count)
            return taken
        }
    }

    /// The most calls in one transaction: an answer should not wait for too many other calls.
    static let maxBatch = 256
    /// How often the thread looks for commits of other processes while workers wait.
    static let foreignCommitInterval = DispatchTimeInterval.milliseconds(90)
    /// How long the thread looks for the next call before it sleeps, if the last one came within that time.
    static let lingerTime = DispatchTimeInterval.microseconds(150)
    /// The time without a write after which the file is cleaned up.
    static let cleanUpDelay = DispatchTimeInterval.seconds(1)

    private let state = Guarded(State())
    private let signal = DispatchSemaphore(value: 0)

    // MARK: - Callers

    /// Adds a call, and wakes the thread if it sleeps.
    func enqueue(_ call: StoreCall) {
        let (isClosed, wasParked) = state.change { state in
            if state.isClosed { return (true, false) }
            if call.writes { state.writes.append(call) } else { state.reads.append(call) }
            defer { state.isParked = false }
            return (false, state.isParked)
        }
        if isClosed { call.refusal(.closed)() }
        if wasParked { signal.signal() }
    }

    /// Calls `body` with the wake signal under the lock, and resumes the waiters that it has woken.
    func withWakeSignal<Answer>(_ body: (inout WakeSignal) -> Answer) -> Answer {
        state.changeAndWake { body(&$0.wakeSignal) }
    }

    /// Adds a worker that waits for the wake signal, and wakes the thread, which then looks for commits of other
    /// processes.
    ///
    /// - Returns: Whether the worker has to wait.
    func add(
        _ waiter: WakeSignal.Waiter, id: Int64, for subject: WakeSignal.Subject, in namespace: String, after mark: Int64
    ) -> Bool {
        let (waits, wasParked) = state.change { state in
            // A cancellation that came earlier found nothing to resume.
            guard !Task.isCancelled, !state.isClosed,
                state.wakeSignal.add(waiter, id: id, for: subject, in: namespace, after: mark)
            else { return (false, false) }
            defer { state.isParked = false }
            return (true, state.isParked)
        }
        if wasParked { signal.signal() }
        return waits
    }

    var isClosed: Bool { state.change { $0.isClosed } }

    /// Refuses new calls. Pending ones are answered.
    func beginClosing() {
        state.changeAndWake { state in
            state.isClosed = true
            state.wakeSignal.signalAll()
        }
        signal.signal()
    }

    /// Refuses new calls, and returns when the thread has ended.
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

    /// The next step of the thread.
    private enum Turn {
        case work(reads: [StoreCall], writes: [StoreCall])
        case park
        case end
    }

    private func nextTurn() -> (turn: Turn, hasWaiters: Bool) {
        state.change { state in
            state.isParked = false
            let hasWaiters = state.wakeSignal.hasWaiters
            guard state.reads.isEmpty, state.writes.isEmpty else {
                let writes = state.takeWrites(atMost: Self.maxBatch)
                defer { state.reads = [] }
                return (.work(reads: state.reads, writes: writes), hasWaiters)
            }
            if state.isClosed { return (.end, hasWaiters) }
            state.isParked = true
            return (.park, hasWaiters)
        }
    }

    /// Makes calls until the store is closed. Runs on the thread.
    func run(_ file: SQLiteFile) {
        var isClean = true
        var lastWrite = DispatchTime.now()
        var lastAnswer = lastWrite
        var lastLook = lastWrite
        // Whether the last call came soon enough after an answer to be worth waiting for.
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
                    isClean = false
                    lastWrite = .now()
                }
                lastAnswer = .now()
                if lingers { lingers = linger() }
            case .park:
                var end = isClean ? DispatchTime.distantFuture : lastWrite + Self.cleanUpDelay
                if hasWaiters { end = min(end, lastLook + Self.foreignCommitInterval) }
                if signal.wait(timeout: end) == .success {
                    lingers = .now() < lastAnswer + Self.lingerTime
                } else if !isClean, .now() >= lastWrite + Self.cleanUpDelay {
                    file.cleanUp()
                    isClean = true
                }
            case .end:
                file.cleanUp()
                return
            }
            // Workers of this process may wait although other callers keep it busy.
            if hasWaiters, .now() >= lastLook + Self.foreignCommitInterval {
                signalForeignCommits(to: file)
                file.maintain()
                lastLook = .now()
            }
        }
    }

    /// Makes calls that only read until the store is closed. Runs on the thread.
    func run(_ reader: SQLiteReader) {
        while true {
            switch nextTurn().turn {
            case .work(let reads, let writes): for call in reads + writes { reader.make(call) }
            case .park: signal.wait()
            case .end: return
            }
        }
    }

    /// Looks for the next call for a while: waking the thread takes longer than the rest of a short transaction.
    ///
    /// - Returns: Whether there is one.
    private func linger() -> Bool {
        let end = DispatchTime.now() + Self.lingerTime
        repeat {
            if state.change({ !$0.reads.isEmpty || !$0.writes.isEmpty }) { return true }
        } while .now() < end
        return false
    }

    /// Resumes the calls of ``close()``, after the thread has closed the file.
    func end() {
        let closers = state.change { state in
            state.hasEnded = true
            defer { state.closers = [] }
            return state.closers
        }
        for closer in closers { closer.resume() }
    }

    /// Wakes the workers that can claim what other processes have committed.
    private func signalForeignCommits(to file: SQLiteFile) {
        do throws(DurableError) {
            guard try file.hasForeignCommits() else { return }
            withWakeSignal { signal in for name in signal.lookedAt { signal.signalInterruption(in: name) } }
            for name in state.change({ $0.wakeSignal.namespaces }) {
                let (next, isPaused) = try file.read { transaction throws(DurableError) in
                    try transaction.nextWake(in: name)
                }
                withWakeSignal { signal in
                    if let next { signal.signal(next, in: name) }
                    if !isPaused { signal.signalResumption(in: name) }
                }
            }
        } catch {
            // The workers get the error when they claim.
            withWakeSignal { $0.signalAll() }
        }
    }
}

/// A call of a store that waits for its transaction, with its caller.
struct StoreCall: Sendable {
    /// Takes note of the end of the transaction, with why it failed, or nil if it was committed. Returns what answers
    /// the caller.
    typealias Delivery = (DurableError?) -> () -> Void

    /// Whether the call needs a writing transaction.
    let writes: Bool
    /// Makes the call. A transaction that was rolled back is repeated, and the call with it.
    let perform: @Sendable (inout SQLiteTransaction) -> Delivery
    /// Takes note of an error. Returns what answers the caller with it.
    let refusal: @Sendable (DurableError) -> () -> Void

    /// Creates a call.
    ///
    /// - Parameters:
    ///   - writes: Whether it needs a writing transaction.
    ///   - body: What it does.
    ///   - receive: Gets the answer, once, and what it wrote that concerns workers. Returns what gives the answer to
    ///     the caller.
    init<Answer: Sendable>(
        writes: Bool, _ body: @escaping @Sendable (inout SQLiteTransaction) throws(DurableError) -> Answer,
        receive: @escaping @Sendable (Result<Answer, DurableError>, WrittenWakes) -> () -> Void
    ) {
        self.writes = writes
        refusal = { receive(.failure($0), WrittenWakes()) }
        perform = { transaction in
            let result = Result { () throws(DurableError) in try body(&transaction) }
            let written = transaction.takeWritten()
            return { failure in
                switch (result, failure) {
                // A call that failed by itself has recorded nothing, whatever happened to the others.
                case (.failure, _): return receive(result, WrittenWakes())
                case (.success, nil): return receive(result, written)
                case (.success, let failure?): return receive(.failure(failure), WrittenWakes())
                }
            }
        }
    }
}

extension [() -> Void] {
    /// Answers the callers of a transaction, one right after the other: a thread that the first one wakes finds the
    /// next ones before it sleeps again, and to wake it for each costs more than a call.
    func answer() { for answer in self { answer() } }
}

extension DurableError {
    /// The cause, without what it means for the caller.
    var reason: String {
        switch self {
        case .refused(let why), .full(let why), .unknown(let why), .unusable(let why): why
        default: description
        }
    }
}
