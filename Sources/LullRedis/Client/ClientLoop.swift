internal import Lull
internal import LullCore
internal import LullDurable

/// The thread of a client: its connections, its steps, and what is sent where.
final class ClientLoop: RowServer {
    /// How long after a temporary error a job is sent again.
    private static let pause = Duration.milliseconds(20)

    private let url: RedisURL
    let options: ServerOptions
    let noticed: @Sendable (Client.Notice) -> Void
    private(set) lazy var runner = StepRunner(self)
    private var replicas: Int?
    /// The servers of a cluster, or the one that the URL names.
    private var nodes: [RedisURL.Address?: Node] = [:]
    private var listening: Link?
    private var channels: Set<String> = []
    /// The server of each slot, as far as it is known; empty without a cluster.
    private var slots: [Int: RedisURL.Address] = [:]
    /// Jobs that are sent again later, and other calls.
    private var delayed: [(at: Job.Instant, job: Job)] = []
    private var pauses: [(at: Job.Instant, call: () -> Void)] = []
    /// The number of this client, by which keys are taken.
    let number = Int64.random(in: 1...Int64.max)
    var batches = BatchNumbers()
    var rules = RulesCache()
    private var trouble = "no connection yet"

    /// The connections to a server.
    private struct Node {
        var steps: Link
        var calls: Link
    }

    init(_ url: RedisURL, _ options: ServerOptions, noticed: @escaping @Sendable (Client.Notice) -> Void) {
        self.url = url
        self.options = options
        self.noticed = noticed
    }

    private var links: [Link] { nodes.values.flatMap { [$0.steps, $0.calls] } + (listening.map { [$0] } ?? []) }

    /// Makes calls until the client is closed and all have been answered.
    func run(_ thread: StoreThread<Client.Item>) {
        while true {
            let (items, isClosed) = thread.takeCalls()
            for item in items { take(item) }
            if isClosed { listening?.staysConnected = false }
            let now = ContinuousClock.now
            sendDelayed(at: now)
            runner.run(at: now)
            for link in links { link.step(at: now) }
            // What has been given up may have been in the way.
            if runner.isReady { continue }
            if isClosed, runner.isEmpty, delayed.isEmpty, pauses.isEmpty,
                nodes.values.allSatisfy({ $0.steps.isFree && $0.calls.isFree })
            {
                return
            }
            let waiting = links.compactMap { link in link.descriptor.map { (link, $0) } }
            var instants = links.compactMap(\.deadline) + delayed.map(\.at) + pauses.map(\.at)
            if let deadline = runner.queue.deadline { instants.append(deadline) }
            let ready = thread.wait(for: waiting.map(\.1), until: instants.min())
            let then = ContinuousClock.now
            for index in ready { waiting[index].0.descriptorIsReady(at: then) }
        }
    }

    private func take(_ item: Client.Item) {
        switch item {
        case .step(let step): runner.add(step)
        case .exchange(let exchange): runner.exchange(exchange)
        case .write(let write, let terms, let answer): send(write, terms, answer)
        case .call(let call):
            send(
                Job(
                    contents: call.contents, role: .calls, deadline: call.deadline, replicas: call.replicas,
                    answer: call.answer))
        case .listen(let namespace): listen(namespace)
        case .replicas(let count): replicas = count
        }
    }

    // MARK: - Routing

    func send(_ job: Job) {
        let address = job.asked ?? (slots.isEmpty ? nil : job.slotKey.flatMap { slots[Slot.of($0)] })
        let node = node(at: address)
        switch job.role {
        case .steps: node.steps.add(job)
        case .calls: node.calls.add(job)
        }
    }

    /// Returns the connections to a server; without an address, to the one that the URL names.
    private func node(at address: RedisURL.Address?) -> Node {
        if let node = nodes[address] { return node }
        let addresses = address.map { [$0] } ?? url.addresses
        let node = Node(steps: Link(url, addresses), calls: Link(url, addresses))
        for link in [node.steps, node.calls] {
            link.giveBack = { [unowned self, unowned link] job, error in giveBack(job, error, from: link) }
            link.learned = { [unowned self, unowned link] in learn($0, from: link) }
        }
        nodes[address] = node
        return node
    }

    /// A job that could not be done where it was sent.
    private func giveBack(_ job: Job, _ error: String?, from link: Link) {
        var job = job
        job.asked = nil
        trouble = error ?? link.trouble
        if let refusal = link.refusal { return job.answer(.error(ServerError(refusal))) }
        if let error {
            // The server has not executed it.
            job.wasSent = false
            switch Cure(error) {
            case .moved(let slot, let host, let port):
                slots[slot] = address(host, port, from: link)
                return sendOrExpire(job)
            case .ask(let host, let port):
                job.asked = address(host, port, from: link)
                return sendOrExpire(job)
            case .load: return sendOrExpire(job)
            case .later, .reconnect, .none: break
            }
        } else {
            // The slot may have got another master, which another server knows.
            if let key = job.slotKey { slots[Slot.of(key)] = nil }
        }
        delayed.append((.now + Self.pause, job))
    }

    private func sendOrExpire(_ job: Job) {
        if job.deadline <= .now { expire(job) } else { send(job) }
    }

    private func expire(_ job: Job) {
        job.answer(job.wasSent ? .lost(trouble) : .unreached(trouble))
    }

    private func sendDelayed(at now: Job.Instant) {
        let due = delayed.filter { $0.at <= now || $0.job.deadline <= now }
        delayed.removeAll { $0.at <= now || $0.job.deadline <= now }
        for (_, job) in due { sendOrExpire(job) }
        let over = pauses.filter { $0.at <= now }
        pauses.removeAll { $0.at <= now }
        for (_, call) in over { call() }
    }

    func delay(_ call: @escaping () -> Void) { pauses.append((.now + .milliseconds(2), call)) }

    /// The number of replicas that have to have what is written.
    var wantedReplicas: Int? { replicas }

    /// A server that does not know its own name answers with an empty one.
    private func address(_ host: String, _ port: Int, from link: Link) -> RedisURL.Address {
        if host.isEmpty, case .host(let name, _) = link.address { return .host(name, port: port) }
        return .host(host, port: port)
    }

    private func learn(_ reply: Reply?, from link: Link) {
        guard let ranges = reply?.list else { return }
        for range in ranges {
            guard let first = range[0].number, let last = range[1].number, let host = range[2][0].text,
                let port = range[2][1].number, first <= last
            else { continue }
            let address = address(host, Int(port), from: link)
            for slot in first...last { slots[Int(slot)] = address }
        }
    }

    // MARK: - Hints

    private func listen(_ namespace: String) {
        guard channels.insert(Scripts.channel(namespace)).inserted else { return }
        guard let link = listening else {
            let link = Link(url, url.addresses)
            link.staysConnected = true
            link.connected = { [unowned self, unowned link] in
                try? link.subscribe(Command(["SUBSCRIBE"] + channels))
                noticed(.hint(nil))
            }
            link.received = { [unowned self] reply in
                guard reply[0].text == "message", let channel = reply[1].text else { return }
                noticed(.hint(String(channel.dropFirst(Scripts.channel("").count))))
            }
            listening = link
            return
        }
        try? link.subscribe(Command("SUBSCRIBE", Scripts.channel(namespace)))
    }
}

extension Job.Answered {
    /// Returns the replies, or throws if too few replicas have what was written.
    func replies(for wanted: Int?) throws(DurableError) -> [Reply] {
        if let wanted, let replicas, replicas < wanted {
            throw .unknown("only \(replicas) of \(wanted) replicas had it in time")
        }
        return replies
    }
}

/// Numbers of batches: the server answers one that is repeated as the first time, if it is the latest of its slot.
struct BatchNumbers {
    private var latest: Int64 = 0
    private var free: [Int] = []
    private var slots = 0

    /// Takes a slot, and a number for the batch in it.
    mutating func begin() -> (slot: Int, number: Int64) {
        latest += 1
        if let slot = free.popLast() { return (slot, latest) }
        slots += 1
        return (slots, latest)
    }

    mutating func end(_ slot: Int) { free.append(slot) }
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
