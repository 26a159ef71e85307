internal import LullDurable

/// A connection to one server, or to the first of several that is a master. Only the client's thread uses it.
///
/// It is a state machine:
///
/// - *closed*: there is no connection. With a job to send, and when the pause after a failure is over, it connects.
/// - *connecting*: with a time limit.
/// - *preparing*: it has sent who it is, and the scripts.
/// - *ready*: jobs are sent at once, and answered in their order.
///
/// When the connection breaks, all jobs go back to the loop, which decides where to send them next.
final class Link {
    typealias Instant = ContinuousClock.Instant

    private enum State {
        case closed(until: Instant)
        case connecting(Connection, until: Instant)
        case preparing(Connection, until: Instant)
        case ready(Connection)
    }

    /// A job that has been sent.
    private struct Sent {
        var job: Job
        /// The replies that are still to come, and those that have come.
        var missing: Int
        var replies: [Reply] = []
    }

    static let connectTime = Duration.seconds(5)
    static let longestPause = Duration.seconds(1)

    private let url: RedisURL
    private let addresses: [RedisURL.Address]
    private var current = 0
    private var state: State = .closed(until: .now)
    private var waiting: [Job] = []
    private var sent: [Sent] = []
    private var preparation: [Preparation] = []
    private var pause = Duration.milliseconds(20)
    /// Why the latest attempt to connect failed.
    private(set) var trouble = "no connection yet"
    private var hashes: [Script: String] = [:]

    /// Receives a job that has to be sent elsewhere or later, with the server's error or nil if the connection broke.
    var giveBack: (Job, String?) -> Void = { _, _ in }
    /// Receives the slots of a cluster after connecting; nil if there is none.
    var learned: (Reply?) -> Void = { _ in }
    /// Receives what arrives without having been asked for.
    var received: (Reply) -> Void = { _ in }
    /// Called after a connection was made.
    var connected: () -> Void = {}
    /// Keeps the connection without a job to send.
    var staysConnected = false
    /// The server refused the credentials: trying again would not help.
    private(set) var refusal: String?

    init(_ url: RedisURL, _ addresses: [RedisURL.Address]) {
        self.url = url
        self.addresses = addresses
    }

    var isFree: Bool { waiting.isEmpty && sent.isEmpty }
    /// The server that the connection is to.
    var address: RedisURL.Address { addresses[current] }

    func add(_ job: Job) { waiting.append(job) }

    /// Sends a command whose replies are received without being asked for.
    func subscribe(_ command: Command) throws(Broken) {
        guard case .ready(let connection) = state else { return }
        try connection.append(command)
        needsFlush = true
    }

    private var needsFlush = false

    // MARK: - What to wait for

    var descriptor: (number: Int32, wait: StoreThread<Client.Item>.Wait)? {
        switch state {
        case .closed: nil
        case .connecting(let connection, _): (connection.descriptor, .writing)
        case .preparing(let connection, _), .ready(let connection):
            (connection.descriptor, needsFlush ? .writing : .reading)
        }
    }

    /// The instant at which there is something to do without the descriptor.
    var deadline: Instant? {
        let first = (waiting.map(\.deadline) + sent.map(\.job.deadline)).min()
        switch state {
        case .closed(let until): return isFree && !staysConnected ? nil : min(until, first ?? until)
        case .connecting(_, let until), .preparing(_, let until): return min(until, first ?? until)
        case .ready: return waiting.isEmpty ? first : .now
        }
    }

    // MARK: - Transitions

    /// Does what is to be done now without the descriptor.
    func step(at now: Instant) {
        switch state {
        case .closed(let until) where until <= now && (!isFree || staysConnected): connect(at: now)
        case .connecting(_, let until) where until <= now, .preparing(_, let until) where until <= now:
            fail("no answer within \(Self.connectTime)", at: now)
        case .ready(let connection): send(over: connection, at: now)
        case .closed, .connecting, .preparing: break
        }
        // A server that is silent may have been cut off.
        if let first = sent.first, first.job.deadline <= now { fail("no answer in time", at: now) }
        while let index = waiting.firstIndex(where: { $0.deadline <= now }) {
            giveBack(waiting.remove(at: index), nil)
        }
    }

    /// Does what the descriptor's readiness allows.
    func descriptorIsReady(at now: Instant) {
        do throws(Broken) {
            switch state {
            case .closed: break
            case .connecting(let connection, _):
                try connection.finishConnecting()
                if url.usesTLS, case .host(let host, _) = address {
                    try connection.beginTLS(host, authorities: url.authorities)
                }
                state = .preparing(connection, until: now + Self.connectTime)
                try prepare(connection)
            case .preparing(let connection, _):
                needsFlush = try connection.flush()
                for reply in try connection.receive() { try take(reply, connection) }
            case .ready(let connection):
                needsFlush = try connection.flush()
                for reply in try connection.receive() { take(reply) }
                if case .ready = state { send(over: connection, at: now) }
            }
        } catch {
            fail(error.message, at: now)
        }
    }

    private func connect(at now: Instant) {
        do throws(Broken) {
            state = .connecting(try Connection(to: address), until: now + Self.connectTime)
        } catch {
            fail(error.message, at: now)
        }
    }

    /// The connection broke, or none could be made.
    func fail(_ message: String, at now: Instant) {
        trouble = "\(address): \(message)"
        state = .closed(until: now + pause)
        pause = min(pause * 2, Self.longestPause)
        current = (current + 1) % addresses.count
        needsFlush = false
        let jobs = sent.map(\.job) + waiting
        sent = []
        waiting = []
        for job in jobs { giveBack(job, nil) }
    }

    // MARK: - Preparing

    /// What is sent before any job.
    private enum Preparation: Equatable {
        case credentials
        case role
        case slots
        case script(Script)
        /// Its answer does not matter.
        case name
    }

    private func prepare(_ connection: Connection) throws(Broken) {
        preparation = []
        func add(_ step: Preparation, _ command: Command) throws(Broken) {
            preparation.append(step)
            try connection.append(command)
        }
        if let password = url.password {
            let credentials = (url.user.map { [$0] } ?? []) + [password]
            try add(.credentials, Command(["AUTH"] + credentials))
        }
        if url.database != 0 { try add(.credentials, Command("SELECT", "\(url.database)")) }
        try add(.name, Command("CLIENT", "SETNAME", "lull"))
        try add(.slots, Command("CLUSTER", "SLOTS"))
        try add(.role, Command("ROLE"))
        needsFlush = try connection.flush()
    }

    /// Sends the scripts, to a server that knows who it is: a stranger may send nothing that long.
    private func sendScripts(_ connection: Connection) throws(Broken) {
        for script in Script.allCases {
            preparation.append(.script(script))
            try connection.append(Command("SCRIPT", "LOAD", script.text))
        }
        needsFlush = try connection.flush()
    }

    private func take(_ reply: Reply, _ connection: Connection) throws(Broken) {
        guard !preparation.isEmpty else { throw Broken(message: "an answer without a question") }
        let step = preparation.removeFirst()
        if case .error(let error) = reply {
            let isTemporary = ["LOADING", "BUSY", "MASTERDOWN"].contains { error.hasPrefix($0) }
            if isTemporary { throw Broken(message: error) }
            switch step {
            case .role where !error.hasPrefix("NOAUTH"), .name: break
            case .slots: learned(nil)
            case .credentials, .script, .role:
                refusal = error
                throw Broken(message: error)
            }
        } else {
            switch step {
            case .role where !isInCluster && reply[0].text == "slave":
                throw Broken(message: "it is a replica")
            case .slots:
                isInCluster = !(reply.list ?? []).isEmpty
                learned(isInCluster ? reply : nil)
            case .script(let script): hashes[script] = reply.text
            case .credentials, .role, .name: break
            }
        }
        guard preparation.isEmpty else { return }
        guard case .script = step else { return try sendScripts(connection) }
        refusal = nil
        state = .ready(connection)
        pause = .milliseconds(20)
        connected()
    }

    private var isInCluster = false

    // MARK: - Jobs

    private func send(over connection: Connection, at now: Instant) {
        guard !waiting.isEmpty || needsFlush else { return }
        do throws(Broken) {
            while !waiting.isEmpty {
                var job = waiting[0]
                var missing = 0
                for content in job.contents {
                    if job.asked != nil {
                        try connection.append(Command("ASKING"))
                        missing += 1
                    }
                    try append(content, to: connection)
                    missing += 1
                }
                if let replicas = job.replicas {
                    let time = max(1, (job.deadline - now).components.seconds * 500)
                    try connection.append(Command("WAIT", "\(replicas)", "\(time)"))
                    missing += 1
                }
                job.wasSent = true
                waiting.removeFirst()
                sent.append(Sent(job: job, missing: missing))
            }
            needsFlush = try connection.flush()
        } catch {
            fail(error.message, at: now)
        }
    }

    private func append(_ content: Job.Content, to connection: Connection) throws(Broken) {
        switch content {
        case .command(let command): try connection.append(command)
        case .script(let script, let place, let arguments):
            let keys = place.keys
            try connection.append(Command(["EVALSHA", hashes[script] ?? "", "\(keys.count)"] + keys), arguments)
        }
    }

    private func take(_ reply: Reply) {
        guard !sent.isEmpty else { return received(reply) }
        sent[0].replies.append(reply)
        sent[0].missing -= 1
        guard sent[0].missing == 0 else { return }
        let (job, all) = (sent[0].job, sent.removeFirst().replies)
        // What is asked for elsewhere has an answer to that before each reply.
        let replies = job.contents.indices.map { job.asked == nil ? all[$0] : all[2 * $0 + 1] }
        guard let error = replies.lazy.compactMap(\.error).first else {
            let replicas = job.replicas.map { _ in Int(all.last?.number ?? 0) }
            return job.answer(.reply(Job.Answered(replies: replies, replicas: replicas)))
        }
        switch Cure(error) {
        case .none: job.answer(.error(ServerError(error)))
        case .load:
            // The scripts were removed: the server gets them again, before the job.
            if case .ready(let connection) = state { reload(connection) }
            giveBack(job, error)
        case .reconnect:
            giveBack(job, error)
            fail(error, at: .now)
        case .moved, .ask, .later: giveBack(job, error)
        }
    }

    /// Loads the scripts again; their answers are those that are known.
    private func reload(_ connection: Connection) {
        for script in Script.allCases {
            add(
                Job(
                    contents: [.command(Command("SCRIPT", "LOAD", script.text))], role: .calls,
                    deadline: .now + Self.connectTime, answer: { _ in }))
        }
    }
}
