internal import LullCore
internal import LullDurable

/// The thread of a client: its connections and its submits.
final class ClientLoop {
    /// How long a statement waits for a key that another transaction has locked, before the next such key has its turn.
    private static let lockTurn: Int32 = 300

    private let schema: String
    private let options: ServerOptions
    private var queue = SubmitQueue()
    /// Two, so that one batch is on its way while the other is committed.
    private let submitLinks: [Link]
    private let lockedLink: Link
    private let workLink: Link
    private let questionLink: Link
    private let listenLink: Link
    private var links: [Link] { submitLinks + [lockedLink, workLink, questionLink, listenLink] }
    /// The number of this client, and of its latest batch: the server answers a repeated batch with its first answers.
    private let number = Int64.random(in: 1...Int64.max)
    private var latestBatch: Int64 = 0

    init(_ url: ConnectionURL, _ options: ServerOptions, notified: @escaping @Sendable (String?) -> Void) {
        schema = url.quotedSchema
        self.options = options
        submitLinks = [Link(url.hosts), Link(url.hosts)]
        lockedLink = Link(url.hosts)
        workLink = Link(url.hosts)
        questionLink = Link(url.hosts)
        listenLink = Link(url.hosts)
        listenLink.notified = { notified($0) }
        listenLink.connected = { [unowned listenLink, schema] in
            listenLink.add(
                Link.Job(
                    statement: Statement("LISTEN \(schema)"), deadline: .now + .seconds(10), isRepeatable: true,
                    answer: { _ in notified(nil) }))
        }
    }

    /// Makes calls until the client is closed and all have been answered.
    func run(_ thread: StoreThread<Client.Item>) {
        while true {
            let (items, isClosed) = thread.takeCalls()
            for item in items {
                switch item {
                case .submit(let entry): queue.add(entry)
                case .call(let call): add(call)
                case .listen: listenLink.staysConnected = true
                }
            }
            if isClosed { listenLink.staysConnected = false }
            let now = ContinuousClock.now
            expireSubmits(at: now)
            sendBatches()
            for link in links { link.step(at: now) }
            if isClosed, queue.isEmpty, !hasJobs { return }
            let waiting = links.compactMap { link in link.descriptor.map { (link, $0) } }
            let deadline = (links.map(\.deadline) + [queue.deadline]).compactMap(\.self).min()
            let ready = thread.wait(for: waiting.map(\.1), until: deadline)
            let then = ContinuousClock.now
            for index in ready { waiting[index].0.descriptorIsReady(at: then) }
        }
    }

    /// Whether anything but listening is to be answered.
    private var hasJobs: Bool { (submitLinks + [lockedLink, workLink, questionLink]).contains { !$0.isFree } }

    private func add(_ call: Client.Call) {
        let link =
            switch call.role {
            case .work: workLink
            case .questions: questionLink
            }
        link.add(
            Link.Job(
                statement: call.statement, deadline: call.deadline, isRepeatable: call.isRepeatable,
                answer: call.answer))
    }

    // MARK: - Submits

    private func sendBatches() {
        for (index, link) in submitLinks.enumerated() where link.isFree && queue.hasWaiting {
            // By key, so that no two batches wait for each other's rows.
            let batch = SubmitQueue.sortedByKey(queue.takeBatch())
            if !batch.isEmpty { send(batch, over: link, connection: index, patience: 0) }
        }
        if lockedLink.isFree {
            let batch = queue.takeLockedKey()
            if !batch.isEmpty { send(batch, over: lockedLink, connection: submitLinks.count, patience: Self.lockTurn) }
        }
    }

    private func send(_ batch: [SubmitQueue.Entry], over link: Link, connection: Int, patience: Int32) {
        latestBatch += 1
        var statement = Statement(
            """
            SELECT answers, generations, dues, dues_in \
            FROM \(schema).submit_many($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, true, $11)
            """)
        let submissions = batch.map(\.submission)
        statement.add(submissions[0].namespace)
        statement.add(submissions.map(\.key))
        statement.add(submissions.map(\.storedValue))
        statement.add(submissions.map { $0.wait.map(\.microseconds) })
        statement.add(submissions.map(\.token))
        statement.add(submissions.map(\.submitter))
        statement.add(int: patience)
        statement.add(number)
        statement.add(int: Int32(connection))
        statement.add(latestBatch)
        statement.add(options.microseconds)
        // A batch of one that is late must not take the time of the others.
        let deadline = batch.map(\.deadline).max() ?? .now
        link.add(
            Link.Job(statement: statement, deadline: deadline, isRepeatable: true) { [unowned self] answer in
                finish(batch, with: answer)
            })
    }

    private func finish(_ batch: [SubmitQueue.Entry], with answer: Client.Answer) {
        var results: [Result<DurableReceipt, DurableError>?]
        if case .error(let error) = answer, error.cure == .locked {
            results = batch.map { _ in nil }
        } else {
            do throws(DurableError) {
                results = try Self.results(of: batch, in: answer.get(in: batch[0].submission.namespace).first)
            } catch {
                results = batch.map { _ in .failure(error) }
            }
        }
        var busy: [SubmitQueue.Entry] = []
        for (entry, result) in zip(batch, results) {
            if let result { entry.answer(result) } else { busy.append(entry) }
        }
        queue.finish(batch, repeating: busy)
    }

    /// The answers to a batch; nil for a key that another transaction has locked.
    private static func results(
        of batch: [SubmitQueue.Entry], in row: Row?
    ) throws(DurableError) -> [Result<DurableReceipt, DurableError>?] {
        guard let row else { throw .notUnderstood }
        let (answers, generations) = (row.smallints(0), row.bigints(1))
        let (dues, duesIn) = (row.bigints(2), row.bigints(3))
        guard answers.count == batch.count, generations.count == batch.count else { throw .notUnderstood }
        return batch.indices.map { index in
            let submission = batch[index].submission
            switch answers[index] {
            case 0:
                return .success(
                    DurableReceipt(
                        namespace: submission.namespace, key: submission.key, generation: generations[index] ?? 0,
                        dueIn: duesIn[index].map { .microseconds($0) },
                        due: dues[index].map { CoreInstant(microseconds: $0).nanoseconds }))
            case 1: return nil
            case 2: return .failure(.tokenOfOtherKey(token: submission.token ?? ""))
            default: return .failure(.notUnderstood)
            }
        }
    }

    private func expireSubmits(at now: ContinuousClock.Instant) {
        let (unsent, locked) = queue.takeExpired(at: now)
        for entry in unsent { entry.answer(.failure(.refused("the server did not answer in time"))) }
        for entry in locked {
            entry.answer(.failure(.refused("another transaction has locked the key for too long")))
        }
    }
}
