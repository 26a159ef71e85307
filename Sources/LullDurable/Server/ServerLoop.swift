internal import Lull

/// What the thread of a store on a server does: it takes what callers give to it, and sends it over its connections.
package protocol ServerLoop: AnyObject, SendableMetatype {
    associatedtype Wire: ServerWire
    /// What callers give to the thread, beside calls.
    associatedtype Item: Sendable

    typealias Instant = ContinuousClock.Instant

    /// The connections, except the one that listens.
    var links: [ServerLink<Wire>] { get }
    var listener: ServerListener<Wire> { get }
    var timers: ServerTimers { get set }

    func take(_ item: Item)

    /// Adds a request to one of the connections.
    func send(_ job: ServerJob<Wire>)

    /// Gives what can be sent now to the connections.
    func work(at now: Instant)

    /// Whether there is more of that, after connections have given up requests.
    var isReady: Bool { get }

    /// Whether callers wait for something that no connection has.
    var isWaiting: Bool { get }

    /// The instant at which there is something to do, whatever the connections do.
    var deadline: Instant? { get }
}

extension ServerLoop {
    /// Makes calls until the client is closed and all have been answered.
    func run(_ thread: StoreThread<ServerItem<Self>>) {
        while true {
            let (items, isClosed) = thread.takeCalls()
            for item in items {
                switch item {
                case .own(let item): take(item)
                case .call(let call):
                    send(
                        ServerJob(
                            call.request, until: call.deadline, isRepeatable: call.isRepeatable, answer: call.answer))
                case .listen(let namespace): listener.listen(namespace)
                }
            }
            if isClosed { listener.link.staysConnected = false }
            let now = Instant.now
            for call in timers.takeDue(at: now) { call() }
            work(at: now)
            let own = links
            let all = own + [listener.link]
            for link in all { link.step(at: now) }
            if isReady { continue }
            if isClosed, !isWaiting, timers.deadline == nil, own.allSatisfy(\.isFree) { return }
            let waiting = all.compactMap { link in link.descriptor.map { (link, $0) } }
            let instants = all.compactMap(\.deadline) + [timers.deadline, deadline].compactMap(\.self)
            let ready = thread.wait(for: waiting.map(\.1), until: instants.min())
            let then = Instant.now
            for index in ready { waiting[index].0.descriptorIsReady(at: then) }
        }
    }
}

/// What is called at an instant.
package struct ServerTimers {
    private var calls: [(at: ContinuousClock.Instant, call: () -> Void)] = []

    package init() {}

    package mutating func add(at instant: ContinuousClock.Instant, _ call: @escaping () -> Void) {
        calls.append((instant, call))
    }

    var deadline: ContinuousClock.Instant? { calls.lazy.map(\.at).min() }

    mutating func takeDue(at now: ContinuousClock.Instant) -> [() -> Void] {
        if calls.isEmpty { return [] }
        let due = calls.filter { $0.at <= now }
        calls.removeAll { $0.at <= now }
        return due.map(\.call)
    }
}

/// The connection that listens to the hints of other processes.
package final class ServerListener<Wire: ServerWire> {
    let link: ServerLink<Wire>
    private var namespaces: Set<String> = []
    private let request: (Set<String>) -> Wire.Request
    private let hinted: (String?) -> Void

    /// - Parameters:
    ///   - request: Returns the request that listens to the hints of namespaces.
    ///   - hinted: Receives the namespaces in which something may be due, and nil if hints may have been missed.
    package init(
        _ link: ServerLink<Wire>, _ request: @escaping (Set<String>) -> Wire.Request,
        hinted: @escaping (String?) -> Void
    ) {
        (self.link, self.request, self.hinted) = (link, request, hinted)
        link.hinted = { hinted($0) }
        link.connected = { [unowned self] _ in listen(to: namespaces) }
        // It is sent when there is a connection again.
        link.reroute = { _, _ in }
    }

    func listen(_ namespace: String) {
        guard namespaces.insert(namespace).inserted else { return }
        link.staysConnected = true
        if link.isReady { listen(to: [namespace]) }
    }

    private func listen(to namespaces: Set<String>) {
        link.add(
            ServerJob(request(namespaces), until: .now + .seconds(10)) { [unowned self] _ in hinted(nil) })
    }
}
