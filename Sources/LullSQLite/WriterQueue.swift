internal import CLullFiles
internal import Dispatch
internal import Foundation
internal import Lull
internal import LullCore
internal import LullDurable

/// A lock that processes get in the order in which they asked for it.
///
/// The kernel keeps the queue: a writer that waits sleeps, however many there are, and one that is killed leaves the
/// queue. A call that waits in the kernel has no timeout, so a thread of its own makes it. A writer that gives up
/// leaves that thread its place; when it comes back, it waits at that place and not at the end.
///
///     outside ──▶ inside                 the lock is free
///     outside ──▶ waiting                it is not: a thread waits for it
///     waiting ──▶ inside, ──▶ failed     the thread got it, or an error
///     waiting ──▶ outside                the thread got it, but the writer has given up
///     inside, failed ──▶ outside         the writer goes on
final class WriterQueue: Sendable {
    private enum Place {
        case outside
        /// The argument: whether the writer has given up.
        case waiting(isAbandoned: Bool)
        case inside
        case failed(Int32)
    }

    /// The end of an attempt to get in.
    enum Entry: Equatable {
        case inside
        case tooLate
        case failed(Int32)
    }

    private let descriptor: Int32
    private let place = Guarded(Place.outside)
    /// Signalled when the place becomes `inside` or `failed`.
    private let turn = DispatchSemaphore(value: 0)

    /// Takes over a descriptor of the lock file.
    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Gets the lock, and waits for it until an instant.
    func enter(until end: ContinuousClock.Instant) -> Entry {
        let code = place.change { place -> Int32? in
            guard case .waiting = place else {
                let code = lull_lock_try(descriptor)
                if code == 0 { place = .inside }
                return code
            }
            place = .waiting(isAbandoned: false)
            return nil
        }
        if let code {
            if code == 0 { return .inside }
            guard lull_lock_is_busy(code) != 0 else { return .failed(code) }
            guard ContinuousClock.now < end else { return .tooLate }
            place.change { $0 = .waiting(isAbandoned: false) }
            waitInKernel()
        }
        // A patience of years ends sooner, which nobody sees.
        let rest = min(max(.zero, ContinuousClock.now.duration(to: end)), .seconds(1 << 30))
        if turn.wait(timeout: .now() + .nanoseconds(Int(CoreDuration(rest).nanoseconds))) == .success { return entry() }
        let isAbandoned = place.change { place in
            guard case .waiting = place else { return false }
            place = .waiting(isAbandoned: true)
            return true
        }
        if isAbandoned { return .tooLate }
        // Its turn came at the last moment.
        turn.wait()
        return entry()
    }

    /// Returns how the thread's waiting has ended.
    private func entry() -> Entry {
        place.change { place in
            guard case .failed(let code) = place else { return .inside }
            place = .outside
            return .failed(code)
        }
    }

    private func waitInKernel() {
        let thread = Thread { [self] in
            let code = lull_lock_wait(descriptor)
            place.change { place in
                if case .waiting(isAbandoned: true) = place {
                    place = .outside
                    if code == 0 { lull_lock_release(descriptor) }
                    return
                }
                place = code == 0 ? .inside : .failed(code)
                turn.signal()
            }
        }
        thread.name = "lull-writer-queue"
        thread.start()
    }

    /// Gives the lock to the next one.
    func leave() {
        place.change { place in
            place = .outside
            lull_lock_release(descriptor)
        }
    }
}

/// A fair lock between all processes that write to a file.
///
/// It consists of two locks, on files beside the one that they guard. A writer takes *want*, then *write*, then
/// releases *want*. So a writer that commits without pause does not get *write* again while another one, which holds
/// *want*, waits for it. SQLite's own lock has no such order. All others wait for *want* in a ``WriterQueue``: each
/// gets its turn, however many they are.
final class WriterLock {
    private let want: WriterQueue
    private let write: Int32
    private let path: String
    /// The lock files as they were opened.
    private let marks: [(suffix: String, identity: FileMark.Identity)]
    private(set) var isHeld = false
    /// The longest pause between two attempts, in nanoseconds.
    private static let longestPause: Int64 = 250_000

    /// Opens the lock files, and creates them if needed, with the permissions of the file that they guard. They are
    /// never removed.
    init(besides path: String) throws(DurableError) {
        self.path = path
        let names = (want: path + "-want", write: path + "-write")
        let want = lull_lock_open(names.want, path)
        let write = lull_lock_open(names.write, path)
        for (name, descriptor) in [(names.want, want), (names.write, write)] where descriptor < 0 {
            for opened in [want, write] where opened >= 0 { close(opened) }
            switch -descriptor {
            case EPERM:
                throw .unusable(
                    "\(name) can be locked by users who may not write \(path): let its owner remove it while nothing "
                        + "uses the store")
            case let code:
                throw .unusable("\(name) cannot be opened for writing: \(String(cString: strerror(code)))")
            }
        }
        self.want = WriterQueue(want)
        self.write = write
        marks = [("-want", FileMark(open: want).identity), ("-write", FileMark(open: write).identity)]
    }

    /// What a lock file that was deleted or replaced has more in its name than the file; nil if there is none.
    var missingSuffix: String? {
        marks.first { FileMark(of: path + $0.suffix).identity != $0.identity }?.suffix
    }

    deinit { close(write) }

    /// Acquires the lock.
    ///
    /// - Parameter patience: How long to wait.
    func acquire(within patience: Duration) throws(DurableError) {
        precondition(!isHeld, "the writer lock is held already")
        let end = ContinuousClock.now.advanced(by: patience)
        switch want.enter(until: end) {
        case .inside: break
        case .tooLate: throw tooLate
        case .failed(let code): throw failure(code)
        }
        defer { want.leave() }
        try takeWrite(until: end)
        isHeld = true
    }

    func release() {
        lull_lock_release(write)
        isHeld = false
    }

    /// Takes the second lock by trying at intervals: only the process that holds the first one does so.
    private func takeWrite(until end: ContinuousClock.Instant) throws(DurableError) {
        var pause: Int64 = 50_000
        while true {
            let code = lull_lock_try(write)
            if code == 0 { return }
            guard lull_lock_is_busy(code) != 0 else { throw failure(code) }
            guard ContinuousClock.now < end else { throw tooLate }
            lull_pause(pause)
            pause = min(2 * pause, Self.longestPause)
        }
    }

    /// What a process has noted beside the lock; empty if it could not. Numbers outlive the process, but not always a
    /// crash of the machine.
    func readNote(_ count: Int) -> [Int64] {
        var numbers = [Int64](repeating: 0, count: count)
        return lull_lock_read(write, &numbers, Int32(count)) != 0 ? numbers : []
    }

    /// Notes numbers beside the lock, which must be held.
    func note(_ numbers: [Int64]) { _ = lull_lock_write(write, numbers, Int32(numbers.count)) }

    private var tooLate: DurableError { .refused("\(path) is locked by another process for too long") }

    private func failure(_ code: Int32) -> DurableError { .refused("\(path) cannot be locked (error \(code))") }
}
