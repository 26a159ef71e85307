internal import LullCore
internal import LullDurable

/// The earliest `wake` that a call wrote in each namespace.
typealias EarliestWakes = [String: CoreInstant]

/// A call of a store that waits for its transaction, with its caller.
struct StoreCall: Sendable {
    /// Answers the caller, once the transaction has ended: with why it failed, or nil if it was committed.
    typealias Delivery = (DurableError?) -> Void

    /// Whether the call needs a writing transaction.
    let writes: Bool
    /// Makes the call. A transaction that was rolled back is repeated, and the call with it.
    let perform: @Sendable (inout SQLiteTransaction) -> Delivery
    /// Answers the caller with an error.
    let refuse: @Sendable (DurableError) -> Void

    /// Creates a call.
    ///
    /// - Parameters:
    ///   - writes: Whether it needs a writing transaction.
    ///   - body: What it does.
    ///   - receive: Gets the answer, once, and which keys now wake earlier.
    init<Answer: Sendable>(
        writes: Bool, _ body: @escaping @Sendable (inout SQLiteTransaction) throws(DurableError) -> Answer,
        receive: @escaping @Sendable (Result<Answer, DurableError>, EarliestWakes) -> Void
    ) {
        self.writes = writes
        refuse = { receive(.failure($0), [:]) }
        perform = { transaction in
            let result = Result { () throws(DurableError) in try body(&transaction) }
            let wakes = transaction.takeEarliestWakes()
            return { failure in
                switch (result, failure) {
                // A call that failed by itself has recorded nothing, whatever happened to the others.
                case (.failure, _): receive(result, [:])
                case (.success, nil): receive(result, wakes)
                case (.success, let failure?): receive(.failure(failure), [:])
                }
            }
        }
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
