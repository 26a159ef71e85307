internal import LullCore

/// A connection in the protocol of a server, which never blocks. Only the thread of its store uses it.
///
/// What all connections do, whatever their protocol, is in ``ServerLink``.
package protocol ServerWire: AnyObject, SendableMetatype {
    associatedtype Host: Sendable, CustomStringConvertible
    associatedtype Request: Sendable
    associatedtype Response: Sendable

    /// The most requests that are under way at once; they are answered in their order.
    static var window: Int { get }

    var descriptor: Int32 { get }

    /// Goes on connecting after the descriptor became ready.
    ///
    /// - Returns: What the descriptor is to be ready for next; nil if requests can be sent.
    func goOnConnecting() throws(ConnectionFailure) -> DescriptorWait?

    /// Adds a request to what is to be sent.
    func send(_ request: Request, until deadline: ContinuousClock.Instant) throws(ConnectionFailure)

    /// Sends what the system takes; returns whether something is left.
    func flush() throws(ConnectionFailure) -> Bool

    /// Takes what has arrived.
    func receive() throws(ConnectionFailure) -> [ServerArrival<Response>]

    /// What is done about an error, beside answering the caller.
    static func cure(of error: ServerError) -> ServerCure

    /// The error for the caller of a call in a namespace.
    static func error(_ error: ServerError, in namespace: String) -> DurableError
}

/// What arrives over a connection.
package enum ServerArrival<Response: Sendable> {
    /// The answer to the first request that has none.
    case answer(Result<Response, ServerError>)
    /// Something may be due in a namespace.
    case hint(String)
}

/// A connection that was lost, or could not be made.
package struct ConnectionFailure: Error {
    package let message: String
    /// The server refuses this user: trying again would not help.
    package let refusal: ServerError?

    package init(_ message: String, refusal: ServerError? = nil) {
        (self.message, self.refusal) = (message, refusal)
    }
}

/// An error that a server answers with. Nothing was recorded.
package struct ServerError: Error {
    /// By it, programs tell errors apart.
    package let code: String
    package let message: String

    package init(code: String, message: String) { (self.code, self.message) = (code, message) }
}

/// What is done about an error.
package enum ServerCure {
    /// Answer the caller.
    case none
    /// Send the request again, here or elsewhere.
    case again
    /// Connect again, and send it then: the server ends, or is a replica now.
    case reconnect
}

/// How a call to a server has ended.
package enum ServerAnswer<Wire: ServerWire>: Sendable {
    case reply(Wire.Response)
    /// The server has refused it: nothing was recorded.
    case error(ServerError)
    /// It certainly was not executed: no server could be reached.
    case unreached(String)
    /// It may have been executed.
    case lost(String)
    /// The store takes no more calls.
    case closed

    /// Returns the reply, or throws the error for the caller.
    package func get(in namespace: String) throws(DurableError) -> Wire.Response {
        switch self {
        case .reply(let reply): return reply
        case .error(let error): throw Wire.error(error, in: namespace)
        case .unreached(let why): throw .refused("the server cannot be reached: \(why)")
        case .lost(let why): throw .unknown("the connection to the server was lost: \(why)")
        case .closed: throw .closed
        }
    }
}

/// A request, and its caller.
package final class ServerJob<Wire: ServerWire> {
    package typealias Answer = ServerAnswer<Wire>

    package var request: Wire.Request
    package let deadline: ContinuousClock.Instant
    package let answer: (Answer) -> Void
    /// Whether it may be sent again after it may have been executed.
    let isRepeatable: Bool
    /// Whether a connection broke over which it had been sent.
    var mayBeDone = false
    /// What the server has answered last, if the request is sent again for that.
    package var refusal: ServerError?
    /// Why a connection broke that was to answer it.
    var trouble: String?

    package init(
        _ request: Wire.Request, until deadline: ContinuousClock.Instant, isRepeatable: Bool = true,
        answer: @escaping (Answer) -> Void
    ) {
        (self.request, self.deadline, self.isRepeatable, self.answer) = (request, deadline, isRepeatable, answer)
    }

    /// Answers it without a reply.
    package func giveUp(_ trouble: String) {
        let trouble = self.trouble ?? trouble
        if mayBeDone {
            answer(.lost(trouble))
        } else if let refusal {
            answer(.error(refusal))
        } else {
            answer(.unreached(trouble))
        }
    }
}
