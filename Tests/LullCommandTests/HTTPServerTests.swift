import CLullCommand
import Foundation
import Lull
import LullHTTP
import TestSupport
import Testing

@testable import LullCommand

/// The server under clients that are slow, rude or many.
@Suite("The HTTP server", .ownThreads, .enabled(if: ServeProcess.isInstalled))
struct HTTPServerTests {
    /// A server that answers with the body of the request, or as a path asks for.
    private final class Echo: Sendable {
        let listener: Listener
        let server: HTTPServer
        let streams = Guarded<[EventStream]>([])
        let begun = Guarded(0)
        let held = Guarded<[@Sendable (HTTPAnswer) -> Void]>([])

        init(
            patience: Duration = .seconds(30), connections: Int = 100, body: Int = 1000, bodies: Int = 10_000,
            speed: Int = 1000, answers: Int = 256 << 20
        ) throws {
            listener = try Listener(at: .address(host: "127.0.0.1", port: 0))
            var limits = HTTPServer.Limits(body: body)
            (limits.patience, limits.connections, limits.bodies, limits.speed) = (patience, connections, bodies, speed)
            limits.answers = answers
            let (streams, begun, held) = (streams, begun, held)
            server = try #require(
                HTTPServer(
                    listeningAt: listener.socket, limits,
                    HTTPServer.Handlers(
                        refuse: { $0.path == "/refused" ? HTTPAnswer(403, "text/plain", Array("no".utf8)) : nil },
                        answer: { request, answer in
                            begun.change { $0 += 1 }
                            switch request.path {
                            case "/held": held.change { $0.append(answer) }
                            case "/events":
                                let stream = EventStream()
                                streams.change { $0.append(stream) }
                                answer(HTTPAnswer(stream))
                            case "/large":
                                answer(HTTPAnswer(200, "text/plain", [UInt8](repeating: 120, count: 64 << 20)))
                            default: answer(HTTPAnswer(200, "text/plain", request.body))
                            }
                        },
                        failure: { HTTPAnswer($0, "text/plain", Array($1.utf8)) })))
        }

        func connect() throws -> RawConnection { try RawConnection(port: UInt16(listener.port), path: nil) }

        /// Sends bytes, and returns what comes until the connection is closed.
        func exchange(_ text: String) throws -> String {
            let connection = try connect()
            connection.send(text)
            return String(decoding: connection.readToEnd(), as: UTF8.self)
        }

        /// Whether a usual request is answered.
        func answers() throws -> Bool {
            try exchange("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").hasPrefix("HTTP/1.1 200 ")
        }

        func stop() async {
            await server.stop(within: .seconds(10))
            close(listener.socket)
        }
    }

    @Test func `takes HTTP 1.0, keeps connections, and answers pipelined requests in order`() async throws {
        let echo = try Echo()
        #expect(try echo.exchange("GET / HTTP/1.0\r\n\r\n").contains(" 200 "))
        func post(_ body: String, _ more: String = "") -> String {
            "POST / HTTP/1.1\r\nHost: a\r\n\(more)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        }
        let all = try echo.exchange(post("one") + post("two") + post("three", "Connection: close\r\n"))
        let found = ["one", "two", "three"].compactMap { all.range(of: "\r\n\r\n\($0)")?.lowerBound }
        #expect(found.count == 3 && found == found.sorted(), "\(all)")
        await echo.stop()
    }

    @Test func `a client that has sent all and closed its half is answered`() async throws {
        let echo = try Echo()
        let connection = try echo.connect()
        connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\nab")
        connection.finish()
        #expect(String(decoding: connection.readToEnd(), as: UTF8.self).hasSuffix("\r\n\r\nab"))
        await echo.stop()
    }

    @Test func `a stream whose client goes before it has begun is gone`() async throws {
        let echo = try Echo()
        for _ in 0..<50 { try echo.connect().send("GET /events HTTP/1.1\r\nHost: a\r\n\r\n") }
        #expect(try echo.answers())
        try eventually("no stream is left") {
            // That a client is gone shows when it is sent something.
            for stream in echo.streams.value { stream.publish(EventStream.Event("a", [])) }
            return echo.streams.value.allSatisfy(\.isGone)
        }
        #expect(echo.streams.value.count > 0)
        await echo.stop()
    }

    @Test func `a body over the limit is refused, by its length or when it has come`() async throws {
        let echo = try Echo()
        let long = String(repeating: "x", count: 1001)
        #expect(try echo.exchange("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n").contains(" 413 "))
        let chunked =
            "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n3e9\r\n\(long)\r\n0\r\n\r\n"
        #expect(try echo.exchange(chunked).contains(" 413 "))
        #expect(echo.begun.value == 0)
        #expect(try echo.exchange("POST /refused HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n").contains(" 403 "))
        #expect(try echo.answers())
        await echo.stop()
    }

    @Test func `bodies have a limit together, and make room when they end`() async throws {
        let echo = try Echo(bodies: 1500)
        let first = try echo.connect()
        first.send(
            "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 1000\r\n\r\n"
                + String(repeating: "x", count: 999))
        let request =
            "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 1000\r\n\r\n"
            + String(repeating: "y", count: 1000)
        try eventually("the second is refused") { (try? echo.exchange(request).contains(" 503 ")) == true }
        first.send("x")
        #expect(String(decoding: first.readToEnd(), as: UTF8.self).contains(" 200 "))
        try eventually("there is room again") { (try? echo.exchange(request).contains(" 200 ")) == true }
        await echo.stop()
    }

    @Test func `a head that is too long, or no HTTP at all, is refused`() async throws {
        let echo = try Echo(patience: .seconds(1))
        let field = "X-Long: \(String(repeating: "x", count: 1000))\r\n"
        let flood = try echo.exchange("GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: field, count: 100) + "\r\n")
        #expect(flood.isEmpty || flood.contains(" 431 ") || flood.contains(" 400 "), "\(flood.prefix(100))")
        let path = try echo.exchange("GET /\(String(repeating: "p", count: 100_000)) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(path.isEmpty || path.contains(" 414 ") || path.contains(" 431 "), "\(path.prefix(100))")
        for nonsense in ["\0\u{1}\u{2}\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\n\r\n"] {
            #expect(!(try echo.exchange(nonsense)).contains(" 200 "))
        }
        #expect(try echo.exchange("GET /?a=%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").contains(" 400 "))
        #expect(try echo.answers())
        await echo.stop()
    }

    /// A proxy in front that understands one of these in another way sends a second request without knowing of it.
    @Test(arguments: [
        "Content-Length: 3\r\nContent-Length: 5\r\n", "Content-Length: 3\r\nContent-Length: 3\r\n",
        "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding : chunked\r\nContent-Length: 3\r\n",
        "Transfer-Encoding: chunked\r\nHost: b\r\n",
    ])
    func `a request that can be understood in two ways is refused, and nothing after it is answered`(
        _ fields: String
    ) async throws {
        let echo = try Echo()
        let answer = try echo.exchange(
            "POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n3\r\nabc\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 400 ") && !answer.contains(" 200 "), "\(answer)")
        #expect(echo.begun.value == 0)
        await echo.stop()
    }

    @Test func `clients that send slowly are cut off, and nobody else waits for them`() async throws {
        let echo = try Echo(patience: .seconds(1))
        let dribbling = try echo.connect()
        dribbling.send("GET / HT")
        let slowBody = try echo.connect()
        slowBody.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 90000\r\n\r\n")
        let silent = try echo.connect()
        // Each byte would be a sign of life to a server that only looks for silence.
        var isCut = (false, false)
        try await waitUntil(atMost: .seconds(30)) {
            if !dribbling.send([UInt8(ascii: "T")]) { isCut.0 = true }
            if !slowBody.send([UInt8(ascii: "x")]) { isCut.1 = true }
            let othersAreAnswered = try echo.answers()
            #expect(othersAreAnswered)
            return isCut == (true, true)
        }
        #expect(silent.readToEnd() == [])
        #expect(echo.server.connections <= 2)
        await echo.stop()
    }

    @Test func `a connection that has asked for the head of a stream has no more time than others`() async throws {
        let echo = try Echo(patience: .seconds(1))
        let connection = try echo.connect()
        connection.send("HEAD /events HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(connection.read(until: "\r\n\r\n") != nil)
        // Each byte would be a sign of life to a server that only looks for silence.
        try await waitUntil(atMost: .seconds(30)) { !connection.send([UInt8(ascii: "G")]) }
        await echo.stop()
    }

    @Test func `a client that does not read its answer is cut off`() async throws {
        let echo = try Echo(patience: .seconds(1), speed: 1 << 30)
        let connection = try echo.connect()
        connection.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        try eventually("it has begun") { echo.begun.value == 1 }
        try eventually("the connection is closed") { echo.server.connections == 0 }
        #expect(connection.readToEnd().count < 64 << 20)
        #expect(try echo.answers())
        await echo.stop()
    }

    @Test func `answers that nobody reads have a limit together, and make room when they end`() async throws {
        // Each has 64 MiB.
        let echo = try Echo(answers: 100 << 20)
        let request = "GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        var first: RawConnection? = try echo.connect()
        first?.send(request)
        _ = first?.read(until: "xxx")
        #expect(try echo.exchange(request).contains(" 503 "))
        #expect(try echo.answers())
        first = nil
        try eventually("there is room again") { (try? echo.exchange(request).contains(" 200 ")) == true }
        await echo.stop()
    }

    @Test func `a stream sends the newest event, and one that nobody reads keeps two in memory`() async throws {
        let echo = try Echo()
        let reader = try echo.connect()
        reader.send("GET /events HTTP/1.1\r\nHost: a\r\n\r\n")
        try eventually("the stream is there") { echo.streams.value.count == 1 }
        let stream = echo.streams.value[0]
        stream.publish(.init("look", Array("1".utf8)))
        #expect(try #require(reader.read(until: "data: 1\n\n")).contains("event: look\n"))
        stream.keepAlive()
        #expect(reader.read(until: ": still here\n\n") != nil)
        // Far more than what fits the sockets.
        let large = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
        for number in 0..<200 { stream.publish(.init("look", Array("\(number) ".utf8) + large)) }
        stream.publish(.init("look", Array("last".utf8)))
        let all = try #require(reader.read(until: "data: last\n\n"))
        #expect(all.utf8.count < 20 << 20)
        stream.end()
        #expect(reader.read(until: "0\r\n\r\n") != nil)
        await echo.stop()
    }

    @Test func `a reader gets what has changed since the event before, or all if it has missed that one`() async throws
    {
        let echo = try Echo()
        let reader = try echo.connect()
        reader.send("GET /events HTTP/1.1\r\nHost: a\r\n\r\n")
        try eventually("the stream is there") { echo.streams.value.count == 1 }
        let stream = echo.streams.value[0]
        func publish(_ number: Int, padding: Int = 0) {
            let change = Array("change to \(number) ".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: padding)
            stream.publish(.init("look", Array("all of \(number)".utf8), number: number, change: (change, number - 1)))
        }
        publish(1)
        #expect(reader.read(until: "data: all of 1\n\n") != nil)
        // An event without a number leaves the reader with what it has.
        stream.publish(.init("look", Array("away".utf8)))
        #expect(reader.read(until: "data: away\n\n") != nil)
        // It takes so long to read that 4 comes instead of 3.
        publish(2, padding: 12 << 20)
        #expect(reader.read(until: "data: change to 2 ") != nil)
        publish(3)
        publish(4)
        let rest = try #require(reader.read(until: "data: all of 4\n\n"))
        #expect(!rest.contains("change to") && !rest.contains("all of 3"))
        publish(5)
        #expect(reader.read(until: "data: change to 5 \n\n") != nil)
        await echo.stop()
    }

    @Test func `a stream whose reader has gone ends`() async throws {
        let echo = try Echo()
        var reader: RawConnection? = try echo.connect()
        reader?.send("GET /events HTTP/1.1\r\nHost: a\r\n\r\n")
        try eventually("the stream is there") { echo.streams.value.count == 1 }
        reader = nil
        let stream = echo.streams.value[0]
        try eventually("it ends") {
            stream.publish(.init("look", Array("1".utf8)))
            return stream.isGone
        }
        await echo.stop()
    }

    @Test func `stopping answers what is under way, and nothing more`() async throws {
        let echo = try Echo()
        let slow = try echo.connect()
        slow.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
        let stream = try echo.connect()
        stream.send("GET /events HTTP/1.1\r\nHost: a\r\n\r\n")
        let idle = try echo.connect()
        try eventually("both have begun") { echo.begun.value == 2 }
        async let stopped: Void = echo.stop()
        await letOthersRun()
        for answer in echo.held.value { answer(HTTPAnswer(200, "text/plain", Array("late".utf8))) }
        await stopped
        #expect(String(decoding: slow.readToEnd(), as: UTF8.self).hasSuffix("late"))
        #expect(String(decoding: stream.readToEnd(), as: UTF8.self).hasSuffix("0\r\n\r\n"))
        #expect(idle.readToEnd() == [])
        #expect(throws: (any Error).self) { try echo.connect() }
    }

    /// A connection that is suspended while the server stops would end the program.
    @Test func `a request that is complete only after the server has begun to end is refused`() async throws {
        let echo = try Echo()
        let (held, late, idle) = (try echo.connect(), try echo.connect(), try echo.connect())
        late.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\na")
        held.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
        try eventually("it waits for an answer") { echo.held.value.count == 1 }
        let stopping = Task.detached { await echo.stop() }
        try eventually("the server ends") {
            idle.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            return idle.read(until: "\r\n\r\n")?.contains(" 503 ") == true
        }
        late.send("b")
        #expect(late.read(until: "\r\n\r\n")?.contains(" 503 ") == true)
        echo.held.value[0](HTTPAnswer(200, "text/plain", Array("held".utf8)))
        await stopping.value
        #expect(String(decoding: held.readToEnd(), as: UTF8.self).hasSuffix("held"))
    }

    @Test(arguments: [
        ("127.0.0.1:80", "127.0.0.1", 80), ("[::1]:8385", "::1", 8385), ("localhost:0", "localhost", 0),
    ])
    func `a place is a host and a port`(_ text: String, _ host: String, _ port: UInt16) {
        #expect(Listener.place(text) == .address(host: host, port: port))
    }

    @Test func `a place can be a path, and nothing else`() {
        #expect(Listener.place("unix:/run/lull") == .path("/run/lull"))
        for text in ["", ":80", "host", "host:", "::1:80", "unix:", "host:-1", "host:+1", "host:-0", "host:65536"] {
            #expect(Listener.place(text) == nil, "\(text)")
        }
    }

    @Test(arguments: [
        ("8385", "write 127.0.0.1:8385, or 0.0.0.0:8385 for all addresses"),
        (":80", "write 127.0.0.1:80, or 0.0.0.0:80 for all addresses"),
        ("localhost", "the port is missing, such as localhost:8385"),
        ("localhost:", "the port is missing, such as localhost:8385"),
        ("localhost:99999", "a port is a number up to 65535"), ("localhost:http", "a port is a number up to 65535"),
        ("http://localhost:8385/", "write localhost:8385"), ("https://lull.example.org", "write 127.0.0.1:8385"),
        ("/run/lull.sock", "write unix:/run/lull.sock"), ("unix:", "the path is missing, such as unix:/run/lull.sock"),
        ("::1:8385", "write [::1]:8385, or [::]:8385 for all addresses"),
        ("[::1]", "write [::1]:8385, or [::]:8385 for all addresses"),
    ])
    func `what is no place has advice`(_ text: String, _ advice: String) {
        #expect(Listener.place(text) == nil)
        #expect(Listener.advice(text) == advice)
        #expect(!Listener.advice(text, isForOthers: false).contains("all addresses"))
    }
}
