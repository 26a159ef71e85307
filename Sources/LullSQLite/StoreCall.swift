internal import LullCore
internal import LullDurable

/// A call of a store that waits for its transaction, with its caller.
struct StoreCall: Sendable {
    /// Takes note of the end of the transaction, with why it failed, or nil if it was committed. Returns what answers the caller.
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
    ///   - receive: Gets the answer, once, and what it wrote that concerns workers. Returns what gives the answer to the caller.
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
    /// Answers the callers of a transaction, one right after the other: a thread that the first one wakes finds the next ones before
    /// it sleeps again, and to wake it for each costs more than a call.
    func answer() { for answer in self { answer() } }
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
