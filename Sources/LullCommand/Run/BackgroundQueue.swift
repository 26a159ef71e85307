internal import Dispatch
internal import Lull

/// Does in other threads what takes as long as a value is large, so that the thread of the event loop goes on: it
/// renews leases, reads the input and starts other keys.
final class BackgroundQueue<Answer: Sendable>: Sendable {
    private let waker: Waker
    private let answers = Guarded<[(id: Int64, answer: Answer)]>([])

    init(_ waker: Waker) { self.waker = waker }

    func begin(_ id: Int64, _ work: @escaping @Sendable () -> Answer) {
        // Not of the quality of service that tasks have, whose threads it would take: they make the calls of stores.
        DispatchQueue.global(qos: .utility).async { [answers, waker] in
            let answer = work()
            answers.change { $0.append((id, answer)) }
            waker.wake()
        }
    }

    /// Returns what has ended since the last call.
    func takeAnswers() -> [(id: Int64, answer: Answer)] {
        answers.change { answers in
            defer { answers = [] }
            return answers
        }
    }
}
