internal import Lull

private let connectTime = Duration.seconds(5)
private let shortestPause = Duration.milliseconds(20)
private let longestPause = Duration.seconds(1)

/// A place for one connection, with the requests that are to be sent over it. Only the thread of its store uses it.
///
/// It is a state machine:
///
/// - *closed*: there is no connection. With a request to send, and when the pause after a failure is over, it connects.
/// - *connecting*: to one host after the other, the one that it was connected to first, each with a time limit.
/// - *ready*: requests are sent, as many at once as the protocol allows, and answered in their order.
///
/// If the connection breaks or the time of a request is up that was sent, the link is closed; requests that may be
/// repeated are sent again, here or where ``reroute`` says.
package final class ServerLink<Wire: ServerWire> {
    package typealias Job = ServerJob<Wire>
    package typealias Instant = ContinuousClock.Instant

    private enum State {
        case closed(until: Instant)
        case connecting(Wire, until: Instant, DescriptorWait)
        case ready(Wire)
    }

    private let hosts: [Wire.Host]
    private let makeWire: (Wire.Host) throws(ConnectionFailure) -> Wire
    /// The host of the connection, and how many hosts have been tried since the latest pause.
    private var current = 0
    private var tried = 0
    private var state: State = .closed(until: .now)
    /// What was sent, in the order of the answers, and what has not been sent.
    private var sent: [Job] = []
    private var waiting: [Job] = []
    private var isSending = false
    private var pause = shortestPause
    /// Why nothing can be sent.
    private var trouble = "no connection yet"

    /// Called after a connection was made.
    package var connected: ((Wire) -> Void)?
    /// Receives the namespaces in which something may be due.
    package var hinted: ((String) -> Void)?
    /// Receives requests that are to be sent again, with the server's error or nil if the connection broke. Without it
    /// they stay here.
    package var reroute: ((Job, ServerError?) -> Void)?
    /// Keeps the connection without a request to send.
    package var staysConnected = false

    /// - Parameter makeWire: Begins to connect to a host.
    package init(_ hosts: [Wire.Host], _ makeWire: @escaping (Wire.Host) throws(ConnectionFailure) -> Wire) {
        (self.hosts, self.makeWire) = (hosts, makeWire)
    }

    /// Whether it has no request.
    package var isFree: Bool { waiting.isEmpty && sent.isEmpty }

    package var isReady: Bool { if case .ready = state { true } else { false } }

    /// The host that the connection is to.
    package var host: Wire.Host { hosts[current] }

    package func add(_ job: Job) { waiting.append(job) }

    // MARK: - What to wait for

    /// The descriptor to wait for.
    var descriptor: (number: Int32, wait: DescriptorWait)? {
        switch state {
        case .closed: nil
        case .connecting(let wire, _, let wait): (wire.descriptor, wait)
        case .ready(let wire): (wire.descriptor, isSending ? .writing : .reading)
        }
    }

    /// The instant at which there is something to do without the descriptor.
    var deadline: Instant? {
        var first: Instant?
        for index in sent.indices { first = min(sent[index].deadline, first ?? sent[index].deadline) }
        for index in waiting.indices { first = min(waiting[index].deadline, first ?? waiting[index].deadline) }
        switch state {
        case .closed(let until): return isFree && !staysConnected ? nil : min(until, first ?? until)
        case .connecting(_, let until, _): return min(until, first ?? until)
        case .ready: return waiting.isEmpty || sent.count >= Wire.window ? first : .now
        }
    }

    // MARK: - Transitions

    /// Does what is to be done now without the descriptor.
    func step(at now: Instant) {
        // A server that is silent may have been cut off.
        if isLate(sent, at: now) {
            fail(ConnectionFailure("\(host): no answer in time"), at: now)
        }
        if isLate(waiting, at: now) {
            let expired = waiting.filter { $0.deadline <= now }
            waiting.removeAll { $0.deadline <= now }
            for job in expired { job.giveUp(trouble) }
        }
        switch state {
        case .closed(let until) where until <= now && (!isFree || staysConnected): connect(at: now)
        case .connecting(_, let until, _) where until <= now:
            tryNextHost(ConnectionFailure("\(host): no answer within \(connectTime)"), at: now)
        case .ready(let wire): send(over: wire, at: now)
        case .closed, .connecting: break
        }
    }

    /// Does what the descriptor's readiness allows.
    func descriptorIsReady(at now: Instant) {
        switch state {
        case .closed: break
        case .connecting(let wire, let until, _):
            do throws(ConnectionFailure) {
                if let wait = try wire.goOnConnecting() {
                    state = .connecting(wire, until: until, wait)
                } else {
                    begin(wire, at: now)
                }
            } catch {
                tryNextHost(error, at: now)
            }
        case .ready(let wire):
            do throws(ConnectionFailure) {
                if isSending { isSending = try wire.flush() }
                for arrival in try wire.receive() {
                    // An answer may have closed the connection.
                    guard case .ready = state else { return }
                    take(arrival, at: now)
                }
            } catch {
                return fail(error, at: now)
            }
            if case .ready = state { send(over: wire, at: now) }
        }
    }

    private func isLate(_ jobs: [Job], at now: Instant) -> Bool {
        // By their numbers, as in ``ServerLoop``.
        for index in jobs.indices where jobs[index].deadline <= now { return true }
        return false
    }

    private func connect(at now: Instant) {
        do throws(ConnectionFailure) {
            state = .connecting(try makeWire(host), until: now + connectTime, .writing)
        } catch {
            tryNextHost(error, at: now)
        }
    }

    private func begin(_ wire: Wire, at now: Instant) {
        state = .ready(wire)
        (pause, tried) = (shortestPause, 0)
        trouble = "\(host) has not answered earlier calls"
        connected?(wire)
        send(over: wire, at: now)
    }

    /// Goes on to the next host, or pauses after the last one.
    private func tryNextHost(_ broken: ConnectionFailure, at now: Instant) {
        tried += 1
        current = (current + 1) % hosts.count
        if tried < hosts.count, broken.refusal == nil { connect(at: now) } else { fail(broken, at: now) }
    }

    /// The connection broke, or none could be made.
    private func fail(_ broken: ConnectionFailure, at now: Instant) {
        trouble = broken.message
        state = .closed(until: now + pause)
        (pause, tried, isSending) = (min(pause * 2, longestPause), 0, false)
        for job in sent { job.mayBeDone = true }
        let jobs = sent + waiting
        (sent, waiting) = ([], [])
        for job in jobs {
            job.trouble = broken.message
            job.refusal = broken.refusal ?? job.refusal
            if broken.refusal != nil || job.deadline <= now || job.mayBeDone && !job.isRepeatable {
                job.giveUp(trouble)
            } else if let reroute {
                reroute(job, nil)
            } else {
                waiting.append(job)
            }
        }
    }

    private func send(over wire: Wire, at now: Instant) {
        let count = min(waiting.count, Wire.window - sent.count)
        guard count > 0 else { return }
        let first = sent.count
        if sent.isEmpty, count == waiting.count {
            swap(&sent, &waiting)
        } else {
            sent += waiting.prefix(count)
            waiting.removeFirst(count)
        }
        do throws(ConnectionFailure) {
            for index in first..<sent.count { try wire.send(sent[index].request, until: sent[index].deadline) }
            isSending = try wire.flush()
        } catch {
            fail(error, at: now)
        }
    }

    private func take(_ arrival: ServerArrival<Wire.Response>, at now: Instant) {
        switch arrival {
        case .hint(let namespace): hinted?(namespace)
        case .answer(let result):
            let job = sent.removeFirst()
            switch result {
            case .success(let reply): job.answer(.reply(reply))
            case .failure(let error):
                switch Wire.cure(of: error) {
                case .none: job.answer(.error(error))
                case .again: sendAgain(job, error)
                case .reconnect:
                    job.refusal = error
                    // Behind others, which may be allowed where this one is not: what only reads.
                    sendAgain(job, error)
                    fail(ConnectionFailure(error.message), at: now)
                }
            }
        }
    }

    private func sendAgain(_ job: Job, _ error: ServerError) {
        if let reroute { reroute(job, error) } else { waiting.append(job) }
    }
}
