internal import Lull

extension SubmitQueue {
    /// Makes submits together, and waits until each has been answered.
    ///
    /// - Parameter add: Adds the submit with an index to the queue of the store's thread, or answers it at once.
    package static func answers(
        count: Int, _ add: (Int, @escaping @Sendable (Result<DurableReceipt, DurableError>) -> Void) -> Void
    ) async -> [Result<DurableReceipt, DurableError>] {
        await withCheckedContinuation { continuation in
            let answers = Guarded(BatchAnswers(count: count))
            for index in 0..<count {
                add(index) { result in
                    guard let all = answers.change({ $0.add(result, at: index) }) else { return }
                    continuation.resume(returning: all)
                }
            }
        }
    }
}

/// The answers to submits that were made together.
private struct BatchAnswers: Sendable {
    private var answers: [Result<DurableReceipt, DurableError>?]
    private var missing: Int

    init(count: Int) {
        answers = Array(repeating: nil, count: count)
        missing = count
    }

    /// Adds an answer, and returns all of them if it was the last one.
    mutating func add(
        _ answer: Result<DurableReceipt, DurableError>, at index: Int
    ) -> [Result<DurableReceipt, DurableError>]? {
        answers[index] = answer
        missing -= 1
        return missing == 0 ? answers.compactMap(\.self) : nil
    }
}
