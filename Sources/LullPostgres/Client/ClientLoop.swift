internal import Lull
internal import LullCore
internal import LullDurable

typealias Client = ServerClient<ClientLoop>
typealias Link = ServerLink<Connection>
typealias Job = ServerJob<Connection>

extension Client {
    func add(_ step: KeyStep) { if !add({ $0.runner.add(step) }) { step.finish(.closed) } }

    func add(_ exchange: ShardExchange) {
        if !add({ $0.runner.exchange(exchange) }) { exchange.answer(.failure(.closed)) }
    }
}

/// The thread of a client: its connections and its steps.
///
/// Steps are made by a ``StepRunner`` over some connections, each statement by whichever is free; one that begins a
/// transaction keeps its connection until the transaction ends. Other calls are sent one after the other over a
/// connection of their own.
final class ClientLoop: ServerLoop, RowServer {
    /// What the thread sees beside what it was asked for.
    enum Notice: Sendable {
        /// Others say that something may be due in a namespace; nil if in any, since hints may have been missed.
        case hint(String?)
        /// A step has been written: when the earliest of its rows wakes that wakes sooner than before, and whether runs
        /// may have been interrupted.
        case written(String, wake: CoreInstant?, isInterrupting: Bool)
    }

    /// Statements that wait for a connection.
    private struct Waiting {
        let job: Job
        /// Whether they begin a transaction, and then who is told over which connection.
        let begun: ((Int) -> Void)?
    }

    let schema: String
    let options: ServerOptions
    let noticed: (Notice) -> Void
    /// As many as there are connections for steps, without that of a worker.
    private(set) lazy var runner = StepRunner(self, mostBatches: 3)
    private let stepLinks: [Link]
    private let callLink: Link
    let links: [Link]
    let listener: ServerListener<Connection>
    var timers = ServerTimers()
    private var waiting: [Waiting] = []
    /// The connections that are in a transaction.
    private var transactions: Set<Int> = []
    /// The number of this client, and what its batches are numbered by.
    let number = Int64.random(in: 1...Int64.max)
    var batches = BatchNumbers()
    /// The transactions of claims that have seen all that was due from there on.
    var claims: Set<Int> = []
    /// From where claims in a namespace go on, and when one last began at the beginning.
    var resume: [String: (from: Int64, fullAt: Instant)] = [:]
    /// The rules of namespaces, which are read again and again.
    var known: [String: (parts: [Int64?], rules: DurableRules)] = [:]

    init(_ url: ConnectionURL, _ options: ServerOptions, noticed: @escaping (Notice) -> Void) {
        schema = url.quotedSchema
        self.options = options
        self.noticed = noticed
        links = (0..<5).map { _ in Link(url.hosts, Connection.init) }
        (stepLinks, callLink) = (Array(links[..<4]), links[4])
        let schema = url.quotedSchema
        let heard = HintReceiver()
        listener = ServerListener(
            Link(url.hosts, Connection.init), { _ in Statements(Statement("LISTEN \(schema)")) },
            hinted: { heard.call($0) })
        heard.call = { [unowned self] namespace in
            if let namespace { resume[namespace] = nil } else { resume = [:] }
            noticed(.hint(namespace))
        }
    }

    func send(_ job: Job) { callLink.add(job) }

    func work(at now: Instant) {
        runner.run(at: now)
        for late in waiting where late.job.deadline <= now { late.job.giveUp("all connections are busy") }
        waiting.removeAll { $0.job.deadline <= now }
        for (index, link) in stepLinks.enumerated() where !waiting.isEmpty && isFree(index) {
            let next = waiting.removeFirst()
            if let begun = next.begun {
                transactions.insert(index)
                begun(index)
            }
            link.add(next.job)
        }
    }

    private func isFree(_ index: Int) -> Bool { stepLinks[index].isFree && !transactions.contains(index) }

    var isReady: Bool { runner.isReady || !waiting.isEmpty && stepLinks.indices.contains(where: isFree) }
    var isWaiting: Bool { !runner.isEmpty || !waiting.isEmpty }
    var deadline: Instant? { [runner.queue.deadline, waiting.first?.job.deadline].compactMap(\.self).min() }

    func delay(_ call: @escaping () -> Void) { timers.add(at: .now + .milliseconds(2), call) }

    // MARK: - Transactions

    /// Sends statements over any connection that is free, or over that of a transaction.
    func send(_ job: Job, in transaction: Int?, begun: ((Int) -> Void)? = nil) {
        if let transaction { stepLinks[transaction].add(job) } else { waiting.append(Waiting(job: job, begun: begun)) }
    }

    /// Notes that a transaction has ended.
    func noteEnd(of transaction: Int?) {
        guard let transaction else { return }
        transactions.remove(transaction)
        claims.remove(transaction)
    }

    func end(_ transaction: Int, _ done: @escaping () -> Void) {
        stepLinks[transaction].add(
            Job(Statements(Statement("ROLLBACK")), until: .now + options.timeLimit) { [unowned self] _ in
                noteEnd(of: transaction)
                done()
            })
    }
}

/// Gets its receiver after the listener was made.
private final class HintReceiver {
    var call: (String?) -> Void = { _ in }
}
