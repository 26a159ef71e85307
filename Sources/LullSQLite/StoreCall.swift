internal import LullCore
internal import LullDurable

/// The earliest `wake` that a call wrote in each namespace.
typealias EarliestWakes = [String: CoreInstant]

/// A call of a store that waits for its transaction: its arguments, and its caller.
enum StoreCall: Sendable {
    case open(String, DurableRules?, Caller<DurableRules>)
    case submit(DurableSubmission, Caller<DurableReceipt>)
    case change(DurableChange, [UInt8], in: String, Caller<Int>)
    /// Begins a change of all keys, of which each ``step(_:_:in:_:)`` makes some.
    case sweep(of: String, Caller<DurableSweep>)
    case step(DurableChange, DurableSweep, in: String, Caller<DurableSweep>)
    case flushSubmitter(Int64, in: String, Caller<(flushed: [(key: [UInt8], generation: Int64)], mixed: Int)>)
    case cancelSubmitter(Int64, in: String, Caller<(cancelled: Int, mixed: Int)>)
    case exchange([DurableReport], DurableClaim?, Caller<SQLiteTransaction.Exchange>)
    case report(DurableReport, Caller<DurableReport.Answer>)
    case state(of: DurableReceipt, Caller<DurableState>)
    case status(Caller<[DurableStatus]>)
    case list(in: String, prefix: [UInt8], limit: Int, Caller<[DurableListing<[UInt8]>]>)
    case ended(of: [UInt8]?, in: String, limit: Int, Caller<[DurableEnd<[UInt8]>]>)
    case announce(DurableWorker.Identity, in: String, Caller<Void>)
    case workers(in: String, Caller<[DurableWorker]>)
    case dead(in: String, limit: Int, Caller<[DurableDeadRun<[UInt8]>]>)
    case retry(Int64, in: String, Caller<DurableRetry>)
    case discard(Int64, in: String, Caller<Bool>)
    /// Makes a step of deleting a namespace, and answers whether that was the last one.
    case forget(String, Caller<Bool>)

    /// Receives the answer to a call, once.
    struct Caller<Answer: Sendable>: Sendable {
        let receive: @Sendable (Result<Answer, DurableError>, EarliestWakes) -> Void

        fileprivate func refuse(_ error: DurableError) { receive(.failure(error), [:]) }
    }

    /// Whether the call needs a writing transaction.
    var writes: Bool {
        switch self {
        case .open, .submit, .change, .step, .flushSubmitter, .cancelSubmitter, .exchange, .report, .retry, .discard,
            .announce, .forget:
            true
        case .sweep, .state, .status, .list, .ended, .dead, .workers: false
        }
    }

    /// Makes the call. A transaction that was rolled back is repeated, and the call with it.
    func perform(in transaction: inout SQLiteTransaction) -> PendingAnswer {
        do throws(DurableError) {
            let answer = try answer(in: &transaction)
            return PendingAnswer(call: self, result: .success(answer), earliestWakes: transaction.takeEarliestWakes())
        } catch {
            return PendingAnswer(call: self, result: .failure(error), earliestWakes: transaction.takeEarliestWakes())
        }
    }

    private func answer(in transaction: inout SQLiteTransaction) throws(DurableError) -> any Sending {
        switch self {
        case .open(let name, let rules, let caller): Answer(try transaction.open(name, rules), caller)
        case .submit(let submission, let caller): Answer(try transaction.submit(submission), caller)
        case .change(let change, let key, let name, let caller):
            Answer(try transaction.change(change, key, in: name), caller)
        case .sweep(let name, let caller): Answer(try transaction.sweep(of: name), caller)
        case .step(let change, let sweep, let name, let caller):
            Answer(try transaction.change(change, sweep, in: name), caller)
        case .flushSubmitter(let submitter, let name, let caller):
            Answer(try transaction.flush(submittedBy: submitter, in: name), caller)
        case .cancelSubmitter(let submitter, let name, let caller):
            Answer(try transaction.cancel(submittedBy: submitter, in: name), caller)
        case .exchange(let reports, let claim, let caller): Answer(transaction.exchange(reports, claim), caller)
        case .report(let report, let caller): Answer(try transaction.report(report), caller)
        case .state(let receipt, let caller): Answer(try transaction.state(of: receipt), caller)
        case .status(let caller): Answer(try transaction.status(), caller)
        case .list(let name, let prefix, let limit, let caller):
            Answer(try transaction.list(in: name, prefix: prefix, limit: limit), caller)
        case .ended(let key, let name, let limit, let caller):
            Answer(try transaction.ended(of: key, in: name, limit: limit), caller)
        case .announce(let worker, let name, let caller): Answer(try transaction.announce(worker, in: name), caller)
        case .workers(let name, let caller): Answer(try transaction.workers(in: name), caller)
        case .dead(let name, let limit, let caller): Answer(try transaction.dead(in: name, limit: limit), caller)
        case .retry(let run, let name, let caller): Answer(try transaction.retry(run, in: name), caller)
        case .discard(let run, let name, let caller): Answer(try transaction.discard(run, in: name), caller)
        case .forget(let name, let caller): Answer(try transaction.forgetSome(of: name), caller)
        }
    }

    /// Answers the caller with an error.
    func refuse(_ error: DurableError) {
        switch self {
        case .open(_, _, let caller): caller.refuse(error)
        case .submit(_, let caller): caller.refuse(error)
        case .change(_, _, _, let caller): caller.refuse(error)
        case .sweep(_, let caller), .step(_, _, _, let caller): caller.refuse(error)
        case .flushSubmitter(_, _, let caller): caller.refuse(error)
        case .cancelSubmitter(_, _, let caller): caller.refuse(error)
        case .exchange(_, _, let caller): caller.refuse(error)
        case .report(_, let caller): caller.refuse(error)
        case .state(_, let caller): caller.refuse(error)
        case .status(let caller): caller.refuse(error)
        case .list(_, _, _, let caller): caller.refuse(error)
        case .ended(_, _, _, let caller): caller.refuse(error)
        case .announce(_, _, let caller): caller.refuse(error)
        case .workers(_, let caller): caller.refuse(error)
        case .dead(_, _, let caller): caller.refuse(error)
        case .retry(_, _, let caller): caller.refuse(error)
        case .discard(_, _, let caller): caller.refuse(error)
        case .forget(_, let caller): caller.refuse(error)
        }
    }
}

/// The answer to a call that was made in a transaction, until the transaction has ended.
struct PendingAnswer {
    fileprivate let call: StoreCall
    fileprivate let result: Result<any Sending, DurableError>
    fileprivate let earliestWakes: EarliestWakes

    /// Answers the caller.
    ///
    /// - Parameter failure: Why the transaction failed; nil if it was committed.
    func send(_ failure: DurableError?) {
        switch (result, failure) {
        // A call that failed by itself has recorded nothing, whatever happened to the others.
        case (.failure(let error), _): call.refuse(error)
        case (.success, let failure?): call.refuse(failure)
        case (.success(let answer), nil): answer.send(earliestWakes)
        }
    }
}

/// An answer and its caller, whatever the type of the answer.
private protocol Sending {
    func send(_ earliestWakes: EarliestWakes)
}

private struct Answer<Value: Sendable>: Sending {
    let value: Value
    let caller: StoreCall.Caller<Value>

    init(_ value: Value, _ caller: StoreCall.Caller<Value>) {
        self.value = value
        self.caller = caller
    }

    func send(_ earliestWakes: EarliestWakes) { caller.receive(.success(value), earliestWakes) }
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
