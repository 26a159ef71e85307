internal import CLullSQLite
internal import Dispatch
internal import Lull
internal import LullCore
internal import LullDurable

/// Where the calls of a store wait for the one thread that runs SQLite, which is none of the cooperative pool: it blocks while
/// the disk works and while others write.
///
/// The thread takes all calls that wait into one transaction, so the more there are, the less a commit costs each.
final class Desk: Sendable {
    struct State: Sendable {
        var reads: [Job] = []
        var writes: [Job] = []
        var bell = Bell()
        /// Whether the thread is asleep, or about to be, and has to be woken for a new call.
        var isParked = false
        var isClosed = false
        var hasEnded = false
        var traffic = Traffic()
        /// Who waits for the end.
        var closers: [CheckedContinuation<Void, Never>] = []

        /// Takes the calls that have waited longest.
        mutating func takeWrites(atMost count: Int) -> [Job] {
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

    /// No more calls than this share a transaction: an answer should not have to wait for too many others.
    static let most = 256
    /// While workers sleep, other processes' commits are looked for this often.
    static let look = DispatchTimeInterval.milliseconds(90)
    /// The next call is looked for so long without sleeping, if the one before came as soon.
    static let comeback = DispatchTimeInterval.microseconds(150)
    /// After so long without a call the log is emptied.
    static let calm = DispatchTimeInterval.seconds(1)

    private let state = Guarded(State())
    private let signal = DispatchSemaphore(value: 0)

    // MARK: - Callers

    /// Lets a call wait for its turn.
    func add(_ job: Job, writes: Bool) {
        let (isClosed, wasParked) = state.change { state in
            if state.isClosed { return (true, false) }
            if writes { state.writes.append(job) } else { state.reads.append(job) }
            defer { state.isParked = false }
            return (false, state.isParked)
        }
        if isClosed { job.refuse(.closed) }
        if wasParked { signal.signal() }
    }

    /// Does something with the bell, and wakes whom it has woken.
    func withBell<Answer>(_ body: (inout Bell) -> Answer) -> Answer {
        let (answer, woken) = state.change { state in
            let answer = body(&state.bell)
            return (answer, state.bell.takeWoken())
        }
        for sleeper in woken { sleeper.resume() }
        return answer
    }

    /// Keeps a sleeper until the bell rings.
    ///
    /// - Returns: Whether it has to sleep.
    func lay(_ sleeper: Bell.Sleeper, _ number: Int64, in namespace: String, after mark: Int64) -> Bool {
        let (sleeps, wakes) = state.change { state in
            // A cancellation that came before would find nobody to wake.
            guard !Task.isCancelled, !state.isClosed,
                state.bell.lay(sleeper, number, in: namespace, after: mark)
            else { return (false, false) }
            // While somebody sleeps, the thread looks at what other processes do.
            defer { state.isParked = false }
            return (true, state.isParked)
        }
        if wakes { signal.signal() }
        return sleeps
    }

    var traffic: Traffic { state.change { $0.traffic } }

    var isClosed: Bool { state.change { $0.isClosed } }

    /// Takes no more calls. Those that wait are answered.
    func shut() {
        state.change { state in
            state.isClosed = true
            state.bell.ringEverywhere()
        }
        withBell { _ in }
        signal.signal()
    }

    /// The same, and returns when the thread has ended.
    func close() async {
        shut()
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
        case work(reads: [Job], writes: [Job])
        case park
        case end
    }

    private func next() -> (turn: Turn, hasSleepers: Bool) {
        state.change { state in
            state.isParked = false
            let hasSleepers = state.bell.hasSleepers
            guard state.reads.isEmpty, state.writes.isEmpty else {
                let writes = state.takeWrites(atMost: Self.most)
                state.traffic.transactions += writes.isEmpty ? 0 : 1
                defer { state.reads = [] }
                return (.work(reads: state.reads, writes: writes), hasSleepers)
            }
            if state.isClosed { return (.end, hasSleepers) }
            state.isParked = true
            return (.park, hasSleepers)
        }
    }

    /// What the thread does until the store is closed.
    func run(_ file: SQLiteFile) {
        var isCalm = true
        var lastCall = DispatchTime.now()
        var lastAnswer = lastCall
        var lastLook = lastCall
        // Whether the latest call came so soon after an answer that it was worth waiting for.
        var lingers = false
        while true {
            let (turn, hasSleepers) = next()
            switch turn {
            case .work(let reads, let writes):
                if !reads.isEmpty { file.read(reads) }
                if !writes.isEmpty {
                    var room = Self.most - writes.count
                    file.write(writes) {
                        let more = state.change { $0.takeWrites(atMost: room) }
                        room -= more.count
                        return more
                    }
                    isCalm = false
                    lastCall = .now()
                }
                lastAnswer = .now()
                if lingers { lingers = linger() }
            case .park:
                var end = isCalm ? DispatchTime.distantFuture : lastCall + Self.calm
                if hasSleepers { end = min(end, lastLook + Self.look) }
                if signal.wait(timeout: end) == .success {
                    lingers = .now() < lastAnswer + Self.comeback
                } else if !isCalm, .now() >= lastCall + Self.calm {
                    file.rest()
                    isCalm = true
                }
            case .end:
                file.rest()
                return
            }
            // However busy this process is: its workers may sleep all the same.
            if hasSleepers, .now() >= lastLook + Self.look {
                look(at: file)
                file.tend()
                lastLook = .now()
            }
        }
    }

    /// Waits a little for the next call without sleeping: to be woken takes longer than all else in a short transaction.
    ///
    /// - Returns: Whether there is one.
    private func linger() -> Bool {
        let end = DispatchTime.now() + Self.comeback
        repeat {
            if state.change({ !$0.reads.isEmpty || !$0.writes.isEmpty }) { return true }
        } while .now() < end
        return false
    }

    /// Tells those who wait that the thread has ended, and the file is closed.
    func end() {
        let closers = state.change { state in
            state.hasEnded = true
            defer { state.closers = [] }
            return state.closers
        }
        for closer in closers { closer.resume() }
    }

    /// Wakes workers for what other processes have committed.
    private func look(at file: SQLiteFile) {
        do throws(DurableError) {
            guard try file.hasForeignCommits() else { return }
            for name in state.change({ $0.bell.namespaces }) {
                let next = try file.read { transaction throws(DurableError) in try transaction.nextWake(in: name) }
                if let next { withBell { $0.ring(next, in: name) } }
            }
        } catch {
            // The workers find out for themselves what is wrong.
            withBell { $0.ringEverywhere() }
        }
    }
}
