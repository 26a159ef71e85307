internal import LullCore
internal import LullDurable

typealias Client = ServerClient<ClientLoop>
typealias Link = ServerLink<Connection>
typealias Job = ServerJob<Connection>

/// The thread of a client: its connections and its submits.
///
/// Submits share statements (``SubmitQueue``). Other calls are sent one after the other over the connection of their
/// role.
final class ClientLoop: ServerLoop {
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
    let links: [Link]
    let listener: ServerListener<Connection>
    var timers = ServerTimers()
    /// The number of this client, and of its latest batch: the server answers a repeated batch with its first answers.
    private let number = Int64.random(in: 1...Int64.max)
    private var latestBatch: Int64 = 0

    /// - Parameter hinted: Receives the namespaces in which something may be due, and nil if hints may have been
    ///   missed.
    init(_ url: ConnectionURL, _ options: ServerOptions, hinted: @escaping (String?) -> Void) {
        let schema = url.quotedSchema
        self.schema = schema
        self.options = options
        links = (0..<5).map { _ in Link(url.hosts, Connection.init) }
        (submitLinks, lockedLink, workLink, questionLink) = (Array(links[..<2]), links[2], links[3], links[4])
        listener = ServerListener(
            Link(url.hosts, Connection.init), { _ in Statement("LISTEN \(schema)") }, hinted: hinted)
    }

    func add(_ entry: SubmitQueue.Entry) { queue.add(entry) }

    func send(_ job: Job) {
        switch job.request.role {
        case .work: workLink.add(job)
        case .questions: questionLink.add(job)
        }
    }

    func work(at now: Instant) {
        expireSubmits(at: now)
        sendBatches()
    }

    var isReady: Bool { queue.hasWaiting && submitLinks.contains { $0.isFree } }
    var isWaiting: Bool { !queue.isEmpty }
    var deadline: Instant? { queue.deadline }

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
        link.add(Job(statement, until: deadline) { [unowned self] answer in finish(batch, with: answer) })
    }

    private func finish(_ batch: [SubmitQueue.Entry], with answer: Client.Answer) {
        var results: [Result<DurableReceipt, DurableError>?]
        if case .error(let error) = answer, error.code == ServerError.locked {
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

    private func expireSubmits(at now: Instant) {
        let (unsent, locked) = queue.takeExpired(at: now)
        for entry in unsent { entry.answer(.failure(.refused("the server did not answer in time"))) }
        for entry in locked {
            entry.answer(.failure(.refused("another transaction has locked the key for too long")))
        }
    }
}
