internal import CLullFiles
internal import Dispatch
internal import Foundation
internal import Lull
internal import LullCore

/// A lock that processes get in the order in which they asked for it.
///
/// The kernel keeps the queue: a writer that waits sleeps, however many there are, and one that is killed leaves the queue. A call that
/// waits in the kernel has no timeout, so a thread of its own makes it. A writer that gives up leaves that thread its place; when it comes back, it
/// waits at that place and not at the end.
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
