internal import Lull
internal import LullCore
internal import LullDurable

/// The thread of a client: its connections, its submits, and what is sent where.
final class ClientLoop {
    /// How long after a temporary error a job is sent again.
    private static let pause = Duration.milliseconds(20)

    private let url: RedisURL
    private let options: ServerOptions
    private let notified: @Sendable (String?) -> Void
    private var queue = SubmitQueue()
    private var replicas: Int?
    /// The servers of a cluster, or the one that the URL names.
    private var nodes: [RedisURL.Address?: Node] = [:]
    private var listening: Link?
    private var channels: Set<String> = []
    /// The server of each slot, as far as it is known; empty without a cluster.
    private var slots: [Int: RedisURL.Address] = [:]
    /// Jobs that are sent again later.
    private var delayed: [(at: Job.Instant, job: Job)] = []
    /// The number of this client, and of its latest batch: the server answers a repeated batch with its first answers.
    private let number = Int64.random(in: 1...Int64.max)
    private var latestBatch: Int64 = 0
    /// Batches that can be under way, so that one is on its way while another is executed.
    private var slotsForBatches = [true, true]
    private var trouble = "no connection yet"

    /// The connections to a server.
    private struct Node {
        var submits: Link
        var calls: Link
    }

    init(_ url: RedisURL, _ options: ServerOptions, notified: @escaping @Sendable (String?) -> Void) {
        self.url = url
        self.options = options
        self.notified = notified
    }

    private var links: [Link] { nodes.values.flatMap { [$0.submits, $0.calls] } + (listening.map { [$0] } ?? []) }

    /// Makes calls until the client is closed and all have been answered.
    func run(_ thread: StoreThread<Client.Item>) {
        while true {
            let (items, isClosed) = thread.takeCalls()
            for item in items { take(item) }
            if isClosed { listening?.staysConnected = false }
            let now = ContinuousClock.now
            for entry in queue.takeExpired(at: now).unsent {
                entry.answer(.failure(.refused("the server did not answer in time: \(trouble)")))
            }
            sendBatches()
            sendDelayed(at: now)
            for link in links { link.step(at: now) }
            if isClosed, queue.isEmpty, delayed.isEmpty,
                nodes.values.allSatisfy({ $0.submits.isFree && $0.calls.isFree })
            {
                return
            }
            let waiting = links.compactMap { link in link.descriptor.map { (link, $0) } }
            var instants = links.compactMap(\.deadline) + delayed.map(\.at)
            if let deadline = queue.deadline { instants.append(deadline) }
            let ready = thread.wait(for: waiting.map(\.1), until: instants.min())
            let then = ContinuousClock.now
            for index in ready { waiting[index].0.descriptorIsReady(at: then) }
        }
    }

    private func take(_ item: Client.Item) {
        switch item {
        case .submit(let entry): queue.add(entry)
        case .call(let call):
            send(
                Job(
                    content: call.content, role: call.role, deadline: call.deadline, isRepeatable: call.isRepeatable,
                    replicas: call.replicas, answer: call.answer))
        case .listen(let namespace): listen(namespace)
        case .replicas(let count): replicas = count
        }
    }

    // MARK: - Routing

    private func send(_ job: Job) {
        let address = job.asked ?? job.slotKey.flatMap { slots[Slot.of($0)] }
        let node = node(at: address)
        switch job.role {
        case .submits: node.submits.add(job)
        case .calls: node.calls.add(job)
        }
    }

    /// Returns the connections to a server; without an address, to the one that the URL names.
    private func node(at address: RedisURL.Address?) -> Node {
        if let node = nodes[address] { return node }
        let addresses = address.map { [$0] } ?? url.addresses
        let node = Node(submits: Link(url, addresses), calls: Link(url, addresses))
        for link in [node.submits, node.calls] {
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
            if job.wasSent, !job.isRepeatable { return job.answer(.lost(link.trouble)) }
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
    }

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

    // MARK: - Submits

    private func sendBatches() {
        while let place = slotsForBatches.firstIndex(of: true), queue.hasWaiting {
            let batch = queue.takeBatch()
            if batch.isEmpty { return }
            slotsForBatches[place] = false
            send(batch, at: place)
        }
    }

    private func send(_ batch: [SubmitQueue.Entry], at place: Int) {
        latestBatch += 1
        var arguments = Command([])
        arguments.add(options.microseconds)
        arguments.add("\(number).\(place)")
        arguments.add(latestBatch)
        for submission in batch.map(\.submission) {
            arguments.add(submission.key)
            arguments.add(submission.storedValue)
            arguments.add(submission.wait.map(\.stored))
            arguments.add(submission.token ?? "")
            arguments.add(submission.submitter)
        }
        let first = batch[0]
        // A batch of one that is late must not take the time of the others.
        let deadline = batch.map(\.deadline).max() ?? .now
        send(
            Job(
                content: .script(
                    .submit, namespace: first.submission.namespace, shard: first.shard, arguments: arguments),
                role: .submits, deadline: deadline, isRepeatable: true, replicas: replicas
            ) { [unowned self] answer in
                finish(batch, at: place, with: answer)
            })
    }

    private func finish(_ batch: [SubmitQueue.Entry], at place: Int, with answer: Job.Answer) {
        slotsForBatches[place] = true
        queue.finish(batch, repeating: [])
        for (index, entry) in batch.enumerated() {
            let submission = entry.submission
            entry.answer(
                Result { () throws(DurableError) in
                    let reply = try answer.get(in: submission.namespace).reply(for: replicas)
                    return try Self.receipt(for: submission, at: index, in: reply)
                })
        }
    }

    private static func receipt(
        for submission: DurableSubmission, at index: Int, in reply: Reply
    ) throws(DurableError) -> DurableReceipt {
        guard let status = reply[4 * index].number, let number = reply[4 * index + 1].number else {
            throw .notUnderstood
        }
        if status == 1 { throw .tokenOfOtherKey(token: submission.token ?? "") }
        return DurableReceipt(
            namespace: submission.namespace, key: submission.key, generation: number,
            dueIn: reply[4 * index + 3].number.map { Duration(CoreDuration(stored: $0)) },
            due: reply[4 * index + 2].number.map { CoreInstant(stored: $0).nanoseconds })
    }

    // MARK: - Hints

    private func listen(_ namespace: String) {
        guard channels.insert(Scripts.channel(namespace)).inserted else { return }
        guard let link = listening else {
            let link = Link(url, url.addresses)
            link.staysConnected = true
            link.connected = { [unowned self, unowned link] in
                try? link.subscribe(Command(["SUBSCRIBE"] + channels))
                notified(nil)
            }
            link.received = { [unowned self] reply in
                guard reply[0].text == "message", let channel = reply[1].text else { return }
                notified(String(channel.dropFirst(Scripts.channel("").count)))
            }
            listening = link
            return
        }
        try? link.subscribe(Command("SUBSCRIBE", Scripts.channel(namespace)))
    }
}

extension Job.Answered {
    /// Returns the reply, or throws if too few replicas have it.
    func reply(for wanted: Int?) throws(DurableError) -> Reply {
        if let wanted, let replicas, replicas < wanted {
            throw .unknown("only \(replicas) of \(wanted) replicas had it in time")
        }
        return reply
    }
}
