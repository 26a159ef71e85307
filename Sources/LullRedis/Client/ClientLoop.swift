internal import Lull
internal import LullCore
internal import LullDurable

/// The thread of a client: its connections, its steps, and what is sent where.
final class ClientLoop: ServerLoop, RowServer {
    /// What the thread sees beside what it was asked for.
    enum Notice: Sendable {
        /// Others say that something may be due in a namespace; nil if in any, since hints may have been missed.
        case hint(String?)
        /// A step has been written: when the earliest of its rows wakes that wakes sooner than before, and whether runs
        /// may have been interrupted.
        case written(String, wake: CoreInstant?, isInterrupting: Bool)
        /// The server's clock is behind the latest instant that was stored.
        case isBehind(ShardPlace, CoreDuration)
    }

    /// How long after a temporary error a request is sent again.
    private static let pause = Duration.milliseconds(20)

    private let url: RedisURL
    let options: ServerOptions
    let noticed: (Notice) -> Void
    /// One batch at the server, one on its way, one that is made.
    private(set) lazy var runner = StepRunner(self, mostBatches: 3)
    /// The number of replicas that have to have what is written.
    var wantedReplicas: Int?
    /// The servers of a cluster, or the one that the URL names.
    private var nodes: [RedisURL.Address?: Node] = [:]
    let listener: ServerListener<Connection>
    var timers = ServerTimers()
    /// The server of each slot, as far as it is known; empty without a cluster.
    private var slots: [Int: RedisURL.Address] = [:]
    /// The number of this client, by which keys are taken.
    let number = Int64.random(in: 1...Int64.max)
    var batches = BatchNumbers()
    var rules = RulesCache()

    /// The connections to a server.
    private struct Node {
        var steps: Link
        var calls: Link
    }

    init(_ url: RedisURL, _ options: ServerOptions, noticed: @escaping (Notice) -> Void) {
        self.url = url
        self.options = options
        self.noticed = noticed
        listener = ServerListener(
            Link(url.addresses) { address throws(ConnectionFailure) in try Connection(to: address, url, listens: true)
            },
            { namespaces in
                Commands(contents: namespaces.map { .command(Command("SUBSCRIBE", Scripts.channel($0))) })
            },
            hinted: { noticed(.hint($0)) })
    }

    var links: [Link] { nodes.values.flatMap { [$0.steps, $0.calls] } }

    func work(at now: Instant) { runner.run(at: now) }

    var isReady: Bool { runner.isReady }
    var isWaiting: Bool { !runner.isEmpty }
    var deadline: Instant? { runner.queue.deadline }

    func delay(_ call: @escaping () -> Void) { timers.add(at: .now + .milliseconds(2), call) }

    // MARK: - Routing

    func send(_ job: Job) {
        let request = job.request
        let address = request.asked ?? (slots.isEmpty ? nil : request.slotKey.flatMap { slots[Slot.of($0)] })
        let node = node(at: address)
        switch request.role {
        case .steps: node.steps.add(job)
        case .calls: node.calls.add(job)
        }
    }

    /// Returns the connections to a server; without an address, to the one that the URL names.
    private func node(at address: RedisURL.Address?) -> Node {
        if let node = nodes[address] { return node }
        let node = Node(steps: link(to: address), calls: link(to: address))
        nodes[address] = node
        return node
    }

    private func link(to address: RedisURL.Address?) -> Link {
        let url = url
        let link = Link(address.map { [$0] } ?? url.addresses) { address throws(ConnectionFailure) in
            try Connection(to: address, url, listens: false)
        }
        link.reroute = { [unowned self, unowned link] in sendAgain($0, after: $1, from: link) }
        link.connected = { [unowned self, unowned link] in learn($0.slots, from: link) }
        return link
    }

    /// Sends a job that could not be done where it was sent.
    private func sendAgain(_ job: Job, after error: ServerError?, from link: Link) {
        job.request.asked = nil
        if let error, let place = error.place {
            let address = address(place.host, place.port, from: link)
            if error.code == "ASK" { job.request.asked = address } else { slots[place.slot] = address }
            return send(job)
        }
        if error?.code == "NOSCRIPT" {
            // The server gets them again, before the job. Their hashes are those that are known.
            let scripts = Script.allCases.map { Commands.Content.command(Command("SCRIPT", "LOAD", $0.text)) }
            link.add(Job(Commands(contents: scripts), until: job.deadline) { _ in })
            return send(job)
        }
        job.refusal = error ?? job.refusal
        // The slot may have got another master, which another server knows.
        if error == nil, let key = job.request.slotKey { slots[Slot.of(key)] = nil }
        timers.add(at: min(.now + Self.pause, job.deadline)) { [unowned self] in send(job) }
    }

    /// A server that does not know its own name answers with an empty one.
    private func address(_ host: String, _ port: Int, from link: Link) -> RedisURL.Address {
        if host.isEmpty, case .host(let name, _) = link.host { return .host(name, port: port) }
        return .host(host, port: port)
    }

    private func learn(_ ranges: [Reply], from link: Link) {
        for range in ranges {
            guard let first = range[0].number, let last = range[1].number, let host = range[2][0].text,
                let port = range[2][1].number, first <= last
            else { continue }
            let address = address(host, Int(port), from: link)
            for slot in first...last { slots[Int(slot)] = address }
        }
    }
}

/// The rules of namespaces by their bytes, which are read again and again.
struct RulesCache {
    private var known: [String: (bytes: [UInt8], rules: DurableRules)] = [:]

    mutating func rules(_ bytes: [UInt8], of namespace: String) throws(DurableError) -> DurableRules {
        if let found = known[namespace], found.bytes == bytes { return found.rules }
        let rules = try DurableRules(bytes)
        known[namespace] = (bytes, rules)
        return rules
    }
}
