import LullCore
import Testing

@testable import LullDurable

/// A connection to servers that a test plays.
@Suite struct ServerLinkTests {
    private let network = Network()
    /// A link can connect from its creation on.
    private let start = ContinuousClock.now + .seconds(1)

    private func link(_ hosts: [String] = ["a"]) -> ServerLink<FakeWire> {
        ServerLink(hosts) { [network] host throws(ConnectionFailure) in
            network.tried.append(host)
            return try FakeWire(host, network)
        }
    }

    private func job(
        _ name: String, for time: Duration = .seconds(30), isRepeatable: Bool = true
    ) -> ServerJob<FakeWire> {
        ServerJob(name, until: start + time, isRepeatable: isRepeatable) { [network] answer in
            network.answers.append("\(name): \(answer)")
        }
    }

    /// Lets a link do what it can at an instant.
    private func run(_ link: ServerLink<FakeWire>, after time: Duration = .zero) {
        link.step(at: start + time)
        if link.descriptor != nil { link.descriptorIsReady(at: start + time) }
    }

    @Test func `tries its hosts one after the other, and pauses after the last one`() {
        network.away = ["a", "b"]
        let link = link(["a", "b"])
        link.add(job("one"))
        run(link)
        #expect(network.tried == ["a", "b"])
        run(link, after: .milliseconds(19))
        #expect(network.tried.count == 2)
        network.away = ["a"]
        run(link, after: .milliseconds(20))
        #expect(network.tried == ["a", "b", "a", "b"] && link.isReady)
        // The next time it begins with the one that it had.
        network.breaks = true
        run(link, after: .seconds(1))
        network.breaks = false
        run(link, after: .seconds(2))
        #expect(network.tried.last == "b" && link.isReady)
    }

    @Test func `sends as much at once as the wire takes, and answers in the order of the calls`() {
        let link = link()
        for name in ["one", "two", "three"] { link.add(job(name)) }
        run(link)
        #expect(network.sent == ["one", "two"])
        network.replies = [.success("1"), .success("2")]
        run(link)
        #expect(network.answers == [#"one: reply("1")"#, #"two: reply("2")"#])
        #expect(network.sent == ["one", "two", "three"])
    }

    @Test func `repeats what may be repeated, and says of the rest that it may have been executed`() {
        let link = link()
        link.add(job("one"))
        link.add(job("two", isRepeatable: false))
        run(link)
        network.breaks = true
        run(link)
        #expect(network.answers == [#"two: lost("it broke")"#])
        network.breaks = false
        run(link, after: .seconds(1))
        network.replies = [.success("1")]
        run(link, after: .seconds(1))
        #expect(network.sent == ["one", "two", "one"] && network.answers.last == #"one: reply("1")"#)
    }

    @Test func `does not take for refused what an earlier attempt may have done`() {
        let link = link()
        link.add(job("one"))
        run(link)
        network.breaks = true
        run(link)
        network.breaks = false
        run(link, after: .seconds(1))
        network.replies = [.failure(ServerError(code: "later", message: "not now"))]
        run(link, after: .seconds(1))
        #expect(network.sent == ["one", "one", "one"])
        link.step(at: start + .seconds(30))
        #expect(network.answers.count == 1 && network.answers[0].hasPrefix("one: lost("))
    }

    @Test func `gives up at once where the server refuses the user, and not where it is away`() {
        let link = link()
        network.away = ["a"]
        link.add(job("one", for: .seconds(10)))
        run(link)
        #expect(network.answers == [])
        run(link, after: .seconds(10))
        #expect(network.answers == [#"one: unreached("a is away")"#])
        network.refuses = true
        link.add(job("two"))
        run(link, after: .seconds(11))
        #expect(network.answers.count == 2 && network.answers[1].hasPrefix("two: error("))
    }

    @Test func `connects again where the server is a replica now`() {
        let link = link()
        link.add(job("one"))
        run(link)
        network.replies = [.failure(ServerError(code: "replica", message: "read-only"))]
        run(link)
        #expect(!link.isReady && network.answers == [])
        run(link, after: .seconds(1))
        #expect(link.isReady && network.sent == ["one", "one"])
    }
}

/// What the servers do, and what they have seen.
private final class Network {
    var away: Set<String> = []
    var refuses = false
    var breaks = false
    var replies: [Result<String, ServerError>] = []
    var tried: [String] = []
    var sent: [String] = []
    var answers: [String] = []
}

private final class FakeWire: ServerWire {
    static let window = 2

    private let network: Network

    init(_ host: String, _ network: Network) throws(ConnectionFailure) {
        self.network = network
        if network.refuses { throw ConnectionFailure("no", refusal: ServerError(code: "user", message: "no")) }
        if network.away.contains(host) { throw ConnectionFailure("\(host) is away") }
    }

    var descriptor: Int32 { 0 }
    func goOnConnecting() -> DescriptorWait? { nil }
    func send(_ request: String, until deadline: ContinuousClock.Instant) { network.sent.append(request) }
    func flush() -> Bool { false }

    func receive() throws(ConnectionFailure) -> [ServerArrival<String>] {
        if network.breaks { throw ConnectionFailure("it broke") }
        defer { network.replies = [] }
        return network.replies.map { .answer($0) }
    }

    static func cure(of error: ServerError) -> ServerCure {
        switch error.code {
        case "later": .again
        case "replica": .reconnect
        default: .none
        }
    }

    static func error(_ error: ServerError, in namespace: String) -> DurableError { .refused(error.message) }
}

extension FakeWire {
    typealias Host = String
    typealias Request = String
    typealias Response = String
}
