internal import LullCore
internal import LullDurable

/// A call that waits for its transaction.
struct Job: Sendable {
    /// What is to be done when the transaction has ended; with the error, if it has failed.
    typealias Ending = @Sendable (DurableError?) -> Void
    /// The earliest `wake` that a call wrote in each namespace.
    typealias Touched = [String: CoreInstant]

    /// Does the call. May be asked for again, in another transaction, if this one had to be rolled back.
    let perform: @Sendable (inout SQLiteTransaction) -> Ending
    /// Answers that there was no transaction.
    let refuse: @Sendable (DurableError) -> Void

    /// A call, and who is to get its answer.
    init<Answer: Sendable>(
        _ body: @escaping @Sendable (inout SQLiteTransaction) throws(DurableError) -> Answer,
        answer: @escaping @Sendable (Result<Answer, DurableError>, Touched) -> Void
    ) {
        perform = { transaction in
            let result: Result<Answer, DurableError>
            do throws(DurableError) {
                result = .success(try body(&transaction))
            } catch {
                result = .failure(error)
            }
            let touched = transaction.table.takeTouched()
            return { failure in
                // A call that was refused by itself has recorded nothing, whatever became of the others.
                if case .success = result, let failure { return answer(.failure(failure), [:]) }
                answer(result, touched)
            }
        }
        refuse = { answer(.failure($0), [:]) }
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
