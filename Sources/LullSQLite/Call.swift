internal import LullCore
internal import LullDurable

/// A call on the store that waits for its transaction.
protocol PendingCall: Sendable {
    /// Makes the call, and keeps its result. It is made again, in another transaction, if this one has to be rolled back.
    mutating func perform(in transaction: inout SQLiteTransaction)
    /// Answers the caller when the transaction has ended.
    ///
    /// - Parameter failure: Why it has failed; nil if it was committed.
    func finish(_ failure: DurableError?)
    /// Answers the caller that there was no transaction.
    func refuse(_ error: DurableError)
}

/// A call with an answer of its own type.
struct Call<Answer: Sendable>: PendingCall {
    /// The earliest `wake` that a call wrote in each namespace.
    typealias Touched = [String: CoreInstant]

    private let body: @Sendable (inout SQLiteTransaction) throws(DurableError) -> Answer
    private let answer: @Sendable (Result<Answer, DurableError>, Touched) -> Void
    private var result: Result<Answer, DurableError>?
    private var touched: Touched = [:]

    /// Makes a call.
    ///
    /// - Parameters:
    ///   - body: What it does within the transaction.
    ///   - answer: Called once, with the result.
    init(
        _ body: @escaping @Sendable (inout SQLiteTransaction) throws(DurableError) -> Answer,
        answer: @escaping @Sendable (Result<Answer, DurableError>, Touched) -> Void
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
        touched = transaction.table.takeTouched()
    }

    func finish(_ failure: DurableError?) {
        switch (result, failure) {
        // A call that was refused by itself has recorded nothing, whatever became of the others.
        case (.failure(let error), _): answer(.failure(error), touched)
        case (_, let failure?): refuse(failure)
        case (.success(let value), nil): answer(.success(value), touched)
        case (nil, nil): preconditionFailure("a call that was not made has been committed")
        }
    }

    func refuse(_ error: DurableError) {
        answer(.failure(error), [:])
    }
}

extension DurableError {
    /// Why, without what it means for the caller.
    var reason: String {
        switch self {
        case .refused(let why), .unknown(let why), .unusable(let why): why
        default: description
        }
    }
}
