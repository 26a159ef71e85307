internal import Lull
internal import LullCore
internal import LullDurable

/// The calls of a store in a file, and the thread that makes them.
///
/// The thread blocks while the disk works and while other processes write. It makes all pending calls in one
/// transaction, so that they share the cost of the commit.
final class CallQueue: Sendable {
    struct State: WakingState {
        var wakeSignal = WakeSignal()
    }

    private let state: Guarded<State>
    private let thread: StoreThread<StoreCall>

    /// Starts the thread.
    ///
    /// - Parameter body: Opens the file, and makes the calls with the loop that it gets.
    init(_ body: @escaping @Sendable (CallLoop) -> Void) throws(DurableError) {
        let state = Guarded(State())
        self.state = state
        thread = try StoreThread("lull-sqlite") { body(CallLoop($0, state)) }
    }

    /// Adds a call.
    func enqueue(_ call: StoreCall) {
        if !thread.add(call) { call.refusal(.closed)() }
    }

    /// Calls `body` with the wake signal under the lock, and resumes the waiters that it has woken.
    func withWakeSignal<Answer>(_ body: (inout WakeSignal) -> Answer) -> Answer {
        state.changeAndWake { body(&$0.wakeSignal) }
    }

    /// Waits until the wake signal is given after a mark, at most for a time. Meanwhile the thread looks for commits of
    /// other processes.
    func wait(
        for subject: WakeSignal.Subject, in namespace: String, after mark: Int64, atMost time: Duration,
        by clock: StoreClock
    ) async throws(DurableError) {
        if thread.isClosed { throw .closed }
        let thread = thread
        await state.wait(for: subject, in: namespace, after: mark, atMost: time, by: clock) { _ in
            // The thread may sleep for longer than it may now.
            thread.wake()
            return thread.isClosed
        }
    }

    /// Refuses new calls. Pending ones are answered.
    func beginClosing() {
        thread.beginClosing()
        state.changeAndWake { $0.wakeSignal.signalAll() }
    }

    /// Refuses new calls, and returns when the thread has ended.
    func close() async {
        beginClosing()
        await thread.close()
    }
}

/// The loop of the thread; only the thread uses it.
final class CallLoop {
    /// The most calls in one transaction: an answer should not wait for too many other calls.
    static let maxBatch = 256
    /// How often the thread looks for commits of other processes while workers wait.
    static let foreignCommitInterval = Duration.milliseconds(90)
    /// How long the thread looks for the next call before it sleeps, if the last one came within that time.
    static let lingerTime = Duration.microseconds(150)
    /// The time without a write after which the file is cleaned up.
    static let cleanUpDelay = Duration.seconds(1)

    private let thread: StoreThread<StoreCall>
    private let state: Guarded<CallQueue.State>
    private var reads: [StoreCall] = []
    private var writes: [StoreCall] = []
    private var isClosed = false

    fileprivate init(_ thread: StoreThread<StoreCall>, _ state: Guarded<CallQueue.State>) {
        self.thread = thread
        self.state = state
    }

    /// Takes the calls that were added.
    ///
    /// - Returns: Whether any is there.
    private func take() -> Bool {
        let (calls, isClosed) = thread.takeCalls()
        for call in calls {
            if call.writes { writes.append(call) } else { reads.append(call) }
        }
        self.isClosed = isClosed
        return !reads.isEmpty || !writes.isEmpty
    }

    /// Makes calls until the store is closed.
    func run(_ opened: CurrentFile) {
        var current = opened
        var isClean = true
        var lastWrite = ContinuousClock.now
        var (lastAnswer, lastLook) = (lastWrite, lastWrite)
        var hasSlept = false
        // Whether the last call came soon enough after an answer to be worth waiting for.
        var lingers = false
        while true {
            let hasWaiters = state.change { $0.wakeSignal.hasWaiters }
            if take() {
                if hasSlept { lingers = .now < lastAnswer + Self.lingerTime }
                hasSlept = false
                let hasWritten = makeCalls(with: &current)
                lastAnswer = .now
                if hasWritten { (isClean, lastWrite) = (false, lastAnswer) }
                if lingers { lingers = linger() }
            } else if isClosed {
                current.opened?.cleanUp()
                return
            } else {
                var end = isClean ? nil : lastWrite + Self.cleanUpDelay
                if hasWaiters {
                    let look = lastLook + Self.foreignCommitInterval
                    end = min(end ?? look, look)
                }
                thread.wait(until: end)
                hasSlept = true
                if !isClean, .now >= lastWrite + Self.cleanUpDelay {
                    current.opened?.cleanUp()
                    isClean = true
                }
            }
            // Workers of this process may wait although other callers keep it busy.
            if hasWaiters, .now >= lastLook + Self.foreignCommitInterval {
                if let file = current.opened {
                    signalForeignCommits(to: file)
                    file.maintain()
                }
                lastLook = .now
            }
        }
    }

    /// Makes the calls that were taken, and those that come while a transaction is open.
    ///
    /// - Returns: Whether any of them writes.
    private func makeCalls(with current: inout CurrentFile) -> Bool {
        let file: SQLiteFile
        do throws(DurableError) { file = try current.file() } catch {
            (reads + writes).map { $0.refusal(error) }.answer()
            (reads, writes) = ([], [])
            return false
        }
        if !reads.isEmpty { file.read(reads) }
        reads = []
        var room = Self.maxBatch
        func next() -> [StoreCall] {
            let some = Array(writes.prefix(room))
            writes.removeFirst(some.count)
            room -= some.count
            return some
        }
        let first = next()
        if first.isEmpty { return false }
        file.write(first) {
            _ = take()
            return next()
        }
        return true
    }

    /// Looks for the next call for a while: waking the thread takes longer than the rest of a short transaction.
    ///
    /// - Returns: Whether there is one.
    private func linger() -> Bool {
        let end = ContinuousClock.now + Self.lingerTime
        repeat {
            if take() { return true }
        } while .now < end
        return false
    }

    /// Makes calls that only read until the store is closed.
    func run(_ reader: SQLiteReader) {
        while true {
            if take() {
                for call in reads + writes { reader.make(call) }
                (reads, writes) = ([], [])
            } else if isClosed {
                return
            } else {
                thread.wait(until: nil)
            }
        }
    }

    /// Wakes the workers that can claim what other processes have committed.
    private func signalForeignCommits(to file: SQLiteFile) {
        do throws(DurableError) {
            guard try file.hasForeignCommits() else { return }
            state.changeAndWake { state in
                for name in state.wakeSignal.lookedAt { state.wakeSignal.signalInterruption(in: name) }
            }
            for name in state.change({ $0.wakeSignal.namespaces }) {
                let (next, isPaused) = try file.read { transaction throws(DurableError) in
                    try transaction.nextWake(in: name)
                }
                state.changeAndWake { state in
                    if let next { state.wakeSignal.signal(next, in: name) }
                    if !isPaused { state.wakeSignal.signalResumption(in: name) }
                }
            }
        } catch {
            // The workers get the error when they claim.
            state.changeAndWake { $0.wakeSignal.signalAll() }
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
