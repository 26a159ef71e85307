/// How a call to a server has ended.
package enum ServerAnswer<Reply: Sendable, Fault: ServerFault>: Sendable {
    case reply(Reply)
    /// The server has refused it: nothing was recorded.
    case error(Fault)
    /// It certainly was not executed: no server could be reached.
    case unreached(String)
    /// It may have been executed.
    case lost(String)
    /// The store takes no more calls.
    case closed

    /// Returns the reply, or throws the error for the caller.
    package func get(in namespace: String) throws(DurableError) -> Reply {
        switch self {
        case .reply(let reply): return reply
        case .error(let error): throw error.durable(in: namespace)
        case .unreached(let why): throw .refused("the server cannot be reached: \(why)")
        case .lost(let why): throw .unknown("the connection to the server was lost: \(why)")
        case .closed: throw .closed
        }
    }
}

/// An error that a server answers with.
package protocol ServerFault: Sendable {
    /// The error for the caller of a call in a namespace.
    func durable(in namespace: String) -> DurableError
}

extension DurableError {
    package static var notUnderstood: DurableError { .unknown("the server's reply was not understood") }
}

extension Result<DurableReport.Answer, DurableError> {
    /// Creates the answer to a report from the number that the server gives.
    package init(number: Int64?) {
        switch number {
        case 0: self = .success(.accepted)
        case 1: self = .success(.alreadyDone)
        case 2: self = .success(.leaseLost)
        case 4: self = .success(.interrupted)
        default: self = .failure(.notUnderstood)
        }
    }
}
