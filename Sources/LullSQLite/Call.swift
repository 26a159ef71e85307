internal import LullCore
internal import LullDurable

/// A call that waits for its transaction.
protocol PendingCall: Sendable {
    /// Makes the call, and stores its result. A transaction that was rolled back is repeated, and the call with it.
    mutating func perform(in transaction: inout SQLiteTransaction)
    /// Answers the caller after the transaction.
    ///
    /// - Parameter failure: Why the transaction failed; nil if it was committed.
    func finish(_ failure: DurableError?)
    /// Answers the caller with an error: there was no transaction.
    func refuse(_ error: DurableError)
}

/// A call with an answer of its own type.
struct Call<Answer: Sendable>: PendingCall {
    /// The earliest `wake` that a call wrote in each namespace.
    typealias EarliestWakes = [String: CoreInstant]

    private let body: @Sendable (inout SQLiteTransaction) throws(DurableError) -> Answer
    private let answer: @Sendable (Result<Answer, DurableError>, EarliestWakes) -> Void
    private var result: Result<Answer, DurableError>?
    private var earliestWakes: EarliestWakes = [:]

    /// Creates a call.
    ///
    /// - Parameters:
    ///   - body: What it does in the transaction.
    ///   - answer: Called once, with the result.
    init(
        _ body: @escaping @Sendable (inout SQLiteTransaction) throws(DurableError) -> Answer,
        answer: @escaping @Sendable (Result<Answer, DurableError>, EarliestWakes) -> Void
    ) {
        self.body = body
        self.answer = answer
    }

    mutating func perform(in transaction: inout SQLiteTransaction) {
        do throws(DurableError) {
            result = .success(try body(&transaction))
        } catch {
            result = .failure(error)
        }
        earliestWakes = transaction.table.takeEarliestWakes()
    }

    func finish(_ failure: DurableError?) {
        switch (result, failure) {
        // A call that failed by itself has recorded nothing, whatever happened to the others.
        case (.failure(let error), _): answer(.failure(error), earliestWakes)
        case (_, let failure?): refuse(failure)
        case (.success(let value), nil): answer(.success(value), earliestWakes)
        case (nil, nil): preconditionFailure("a call was committed that was not made")
        }
    }

    func refuse(_ error: DurableError) {
        answer(.failure(error), [:])
    }
}

extension DurableError {
    /// The cause, without what it means for the caller.
    var reason: String {
        switch self {
        case .refused(let why), .unknown(let why), .unusable(let why): why
        default: description
        }
    }
}
