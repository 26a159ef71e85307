internal import LullDurable

/// A place for one connection, with the statements that are to be sent over it, one after the other. Only the client's
/// thread uses it.
///
/// It is a state machine:
///
/// - *closed*: there is no connection. With a statement to send, and when the pause after a failure is over, it
///   connects.
/// - *connecting*: to one host after the other, each with a time limit.
/// - *idle*: a statement can be sent.
/// - *busy*: a statement was sent, and its answer has not arrived. When it has, the link is idle. If the connection
///   breaks or the statement's time is up, the link is closed; a statement that may be repeated stays the first to be
///   sent.
final class Link {
    typealias Instant = ContinuousClock.Instant

    /// A statement to be sent, and its caller.
    struct Job {
        var statement: Statement
        var deadline: Instant
        /// Whether it may be sent again after it may have been executed.
        var isRepeatable: Bool
        /// Whether it may have been executed.
        var wasSent = false
        /// What the server has answered last, if that was a reason to connect again.
        var refusal: ServerError?
        var answer: (Client.Answer) -> Void
    }

    private enum State {
        case closed(until: Instant)
        case connecting(Connection, host: Int, until: Instant, Connection.Wait)
        case idle(Connection)
        case busy(Connection, isSending: Bool)
    }

    static let connectTime = Duration.seconds(5)
    static let longestPause = Duration.seconds(1)

    private let hosts: [[(name: String, value: String)]]
    private var state: State = .closed(until: .now)
    private var jobs: [Job] = []
    private var pause = Duration.milliseconds(20)
    /// Why the latest attempt to connect failed.
    private var trouble = "no connection yet"
    /// Receives the payloads of notifications.
    var notified: ((String) -> Void)?
    /// Called after a connection was made.
    var connected: (() -> Void)?
    /// Keeps the connection without a statement to send.
    var staysConnected = false

    init(_ hosts: [[(name: String, value: String)]]) { self.hosts = hosts }

    /// Whether a statement would be sent at once, or after connecting.
    var isFree: Bool { jobs.isEmpty }

    /// Whether there is a connection that nobody uses.
    var isIdle: Bool {
        if case .idle = state { jobs.isEmpty } else { false }
    }

    func add(_ job: Job) { jobs.append(job) }

    /// Closes the connection.
    func close() { state = .closed(until: .now) }

    // MARK: - What to wait for

    /// The descriptor to wait for.
    var descriptor: (number: Int32, wait: Connection.Wait)? {
        switch state {
        case .closed: nil
        case .connecting(let connection, _, _, let wait): (connection.descriptor, wait)
        case .idle(let connection): (connection.descriptor, .reading)
        case .busy(let connection, let isSending): (connection.descriptor, isSending ? .writing : .reading)
        }
    }

    /// The instant at which there is something to do without the descriptor.
    var deadline: Instant? {
        let first = jobs.map(\.deadline).min()
        switch state {
        case .closed(let until): return jobs.isEmpty && !staysConnected ? nil : min(until, first ?? until)
        case .connecting(_, _, let until, _): return min(until, first ?? until)
        case .idle: return jobs.isEmpty ? nil : .now
        case .busy: return first
        }
    }

    // MARK: - Transitions

    /// Does what is to be done now without the descriptor.
    func step(at now: Instant) {
        expireJobs(at: now)
        switch state {
        case .closed(let until) where until <= now && (!jobs.isEmpty || staysConnected): connect(to: 0, at: now)
        case .connecting(_, let host, let until, _) where until <= now:
            giveUp(host, "no answer within \(Self.connectTime)", at: now)
        case .idle(let connection) where !jobs.isEmpty: send(over: connection, at: now)
        case .closed, .connecting, .idle, .busy: break
        }
    }

    /// Does what the descriptor's readiness allows.
    func descriptorIsReady(at now: Instant) {
        switch state {
        case .closed: break
        case .connecting(let connection, let host, let until, _):
            do throws(Broken) {
                switch try connection.goOnConnecting() {
                case .none:
                    state = .idle(connection)
                    pause = .milliseconds(20)
                    connected?()
                    step(at: now)
                case let wait: state = .connecting(connection, host: host, until: until, wait)
                }
            } catch {
                giveUp(host, error.message, at: now)
            }
        case .idle(let connection):
            do throws(Broken) {
                for payload in try connection.notifications() { notified?(payload) }
            } catch {
                fail(error.message, at: now)
            }
        case .busy(let connection, let isSending):
            do throws(Broken) {
                var isSending = isSending
                if isSending {
                    isSending = try connection.flush()
                    state = .busy(connection, isSending: isSending)
                }
                guard let answer = try connection.receive() else { return }
                for payload in try connection.notifications() { notified?(payload) }
                finish(answer, over: connection, at: now)
            } catch {
                fail(error.message, at: now)
            }
        }
    }

    private func connect(to host: Int, at now: Instant) {
        guard let connection = Connection(hosts[host]) else { return fail("out of memory", at: now) }
        state = .connecting(connection, host: host, until: now + Self.connectTime, .writing)
        // A failure at the first step has no descriptor to wait for.
        if connection.descriptor < 0 { giveUp(host, connection.message, at: now) }
    }

    /// Goes on to the next host, or pauses after the last one.
    private func giveUp(_ host: Int, _ message: String, at now: Instant) {
        if host + 1 < hosts.count {
            connect(to: host + 1, at: now)
        } else {
            fail(message, at: now)
        }
    }

    /// The connection broke, or none could be made.
    private func fail(_ message: String, at now: Instant) {
        trouble = message
        state = .closed(until: now + pause)
        pause = min(pause * 2, Self.longestPause)
        if let job = jobs.first, job.wasSent, !job.isRepeatable {
            jobs.removeFirst()
            job.answer(.lost(message))
        }
    }

    private func send(over connection: Connection, at now: Instant) {
        jobs[0].wasSent = true
        do throws(Broken) {
            try connection.send(jobs[0].statement)
            state = .busy(connection, isSending: true)
        } catch {
            fail(error.message, at: now)
        }
    }

    private func finish(_ answer: Result<Rows, ServerError>, over connection: Connection, at now: Instant) {
        state = .idle(connection)
        switch answer {
        case .success(let rows): jobs.removeFirst().answer(.reply(rows))
        case .failure(let error):
            // The transaction was rolled back.
            switch error.cure {
            case .again: jobs[0].wasSent = false
            case .reconnect:
                jobs[0].wasSent = false
                jobs[0].refusal = error
                // Others may be allowed where this one is not: what only reads.
                jobs.append(jobs.removeFirst())
                fail(error.message, at: now)
            case .locked, .none: jobs.removeFirst().answer(.error(error))
            }
        }
        if case .idle = state, !jobs.isEmpty { send(over: connection, at: now) }
    }

    /// Answers jobs whose time is up.
    private func expireJobs(at now: Instant) {
        guard jobs.contains(where: { $0.deadline <= now }) else { return }
        if case .busy = state, let job = jobs.first, job.deadline <= now {
            // The server may still work on it.
            trouble = "no answer in time"
            state = .closed(until: now)
        }
        let expired = jobs.filter { $0.deadline <= now }
        jobs.removeAll { $0.deadline <= now }
        for job in expired {
            if job.wasSent {
                job.answer(.lost(trouble))
            } else if let refusal = job.refusal {
                job.answer(.error(refusal))
            } else {
                job.answer(.unreached(trouble))
            }
        }
    }
}
