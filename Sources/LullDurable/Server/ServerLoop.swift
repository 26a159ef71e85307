internal import Lull

/// What the thread of a store on a server does: it takes what callers give to it, and sends it over its connections.
package protocol ServerLoop: AnyObject, SendableMetatype {
    associatedtype Wire: ServerWire

    typealias Instant = ContinuousClock.Instant

    /// The connections, except the one that listens.
    var links: [ServerLink<Wire>] { get }
    var listener: ServerListener<Wire> { get }
    var timers: ServerTimers { get set }

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
    func run(_ thread: StoreThread<@Sendable (Self) -> Void>) {
        var rounds = 0
        while true {
            let (calls, isClosed) = thread.takeCalls()
            for index in calls.indices { calls[index](self) }
            // Callers that were answered together call again together: what they ask shares a batch.
            if !calls.isEmpty, rounds < 50 {
                rounds += 1
                thread.yield()
                continue
            }
            rounds = 0
            if isClosed { listener.link.staysConnected = false }
            let now = Instant.now
            for call in timers.takeDue(at: now) { call() }
            work(at: now)
            var links = links
            let others = links.count
            links.append(listener.link)
            // By their numbers: this code is not specialised for a wire, and would look for the type of a collection.
            for index in links.indices { links[index].step(at: now) }
            if isReady { continue }
            var isFree = !isWaiting && timers.deadline == nil
            var instants = [timers.deadline, deadline]
            var descriptors: [(number: Int32, wait: DescriptorWait)] = []
            var places: [Int] = []
            for index in links.indices {
                let link = links[index]
                if index < others, !link.isFree { isFree = false }
                instants.append(link.deadline)
                guard let descriptor = link.descriptor else { continue }
                descriptors.append(descriptor)
                places.append(index)
            }
            if isClosed, isFree { return }
            let ready = thread.wait(for: descriptors, until: instants.compactMap(\.self).min())
            let then = Instant.now
            for index in ready { links[places[index]].descriptorIsReady(at: then) }
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
