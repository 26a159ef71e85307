internal import CLullSystem
internal import Dispatch
internal import Lull
internal import LullCore
internal import LullDurable

/// The host of a session's worker: what the worker decides on becomes messages to the session's event loop, which
/// carries the runs out.
final class WorkerMailbox: WorkerHost {
    enum Message: Sendable {
        /// One that is not a call of the store, or a report that is being made.
        case action(WorkerStateMachine.Action)
        /// A claim was answered, at an instant in nanoseconds since the boot of the machine.
        case claimed(DurableClaim.Answer, at: Int64)
        /// The worker has finished: with an error if the store cannot be used any more.
        case finished(DurableError?)
    }

    private let waker: Waker
    private let messages = Guarded<[Message]>([])
    /// How long a call of the store goes on after a signal that ends the program; nil if it limits itself.
    private let grace: Duration?

    init(grace: Duration?) throws(Failure) {
        waker = try Waker()
        self.grace = grace
    }

    /// Poll this for reading: then there are messages.
    var descriptor: Int32 { waker.descriptor }

    /// Returns what has come since the last call.
    func take() -> [Message] {
        waker.acknowledge()
        return messages.change { messages in
            defer { messages = [] }
            return messages
        }
    }

    func perform(
        _ actions: [WorkerStateMachine.Action], after events: [WorkerStateMachine.Event], of driver: WorkerDriver
    ) {
        let now = lull_nanoseconds_since_boot()
        var messages: [Message] = actions.compactMap { action in
            switch action {
            case .announce, .claim, .wait, .watch: nil
            case .start, .cancel, .report, .leaseLost, .died, .overdue, .leaseGivenUp, .storeFailed, .paused, .resumed:
                .action(action)
            }
        }
        // Behind the starts of what was claimed.
        for case .claimed(.success(let answer)) in events { messages.append(.claimed(answer, at: now)) }
        post(messages)
    }

    /// Gives a server up that does not answer for a while after a signal.
    func exchange(
        _ reports: [DurableReport], _ claim: DurableClaim?, with store: any StoreCalls
    ) async -> DurableExchange {
        guard let grace else { return await store.exchangeWithPauses(reports, claim) }
        return await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .utility).async {
                let answers: DurableExchange
                do throws(DurableError) {
                    answers = try CommandStore.blocking(grace) { await store.exchangeWithPauses(reports, claim) }
                } catch {
                    answers = DurableExchange(reports, claim, failed: error)
                }
                continuation.resume(returning: answers)
            }
        }
    }

    func finish(_ error: DurableError?) { post([.finished(error)]) }

    private func post(_ new: [Message]) {
        if new.isEmpty { return }
        messages.change { $0 += new }
        waker.wake()
    }
}
