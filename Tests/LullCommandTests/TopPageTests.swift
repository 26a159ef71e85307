import CLullCommand
import CLullSockets
import Foundation
import TestSupport
import Testing

@testable import LullCommand

/// `lull top --page` as a process, on another process.
@Suite("The page of lull top", .ownThreads, .enabled(if: ServeProcess.isInstalled))
struct TopPageTests {
    private let socket = ProgramSocket()

    /// The events that a page gets.
    private final class Events {
        /// It ends with its last reference.
        private let page: ServeProcess
        private let connection: RawConnection

        init(_ page: ServeProcess) throws {
            self.page = page
            connection = try page.connect()
            connection.send("GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        }

        /// Returns the next event that meets a condition.
        func next(_ isMeant: ([String: Any]) -> Bool) throws -> [String: Any] {
            while let text = connection.read(until: "\n\n") {
                for line in text.split(separator: "\n") where line.hasPrefix("data: ") {
                    let object = try? JSONSerialization.jsonObject(with: Data(line.dropFirst(6).utf8))
                    if let event = object as? [String: Any], isMeant(event) { return event }
                }
            }
            throw POSIXError(.ECONNRESET)
        }

        func program(_ isMeant: ([String: Any]) -> Bool = { _ in true }) throws -> [String: Any] {
            let event = try next { ($0["program"] as? [String: Any]).map(isMeant) ?? false }
            return try #require(event["program"] as? [String: Any])
        }

        /// Returns why there is nothing to see.
        func away(_ isMeant: (String) -> Bool = { _ in true }) throws -> String {
            let event = try next { ($0["away"] as? String).map(isMeant) ?? false }
            #expect(event["program"] is NSNull)
            return try #require(event["away"] as? String)
        }
    }

    private static func rows(_ program: [String: Any]) -> [[String: Any]] {
        program["debouncers"] as? [[String: Any]] ?? []
    }

    // MARK: - What it shows

    @Test func `a page is served, and events say what the program says`() throws {
        let program = try socket.startProgram()
        let page = try ServeProcess(topOf: socket.path)
        #expect(try page.get("/").text.hasPrefix("<!doctype html>"))
        let shown = try Events(page).program { Self.rows($0).count == 3 }
        #expect(shown["process"] as? Int == Int(program.group) && shown["name"] as? String == "InspectionChild")
        let rows = Self.rows(shown)
        #expect(
            rows.allSatisfy { ($0["where"] as? String)?.hasPrefix("InspectionChild/InspectionChild.swift:") == true })
        let early = try #require(rows.first { $0["policy"] as? String == "--wait 1h" })
        #expect(early["pending"] as? Int == 1 && early["kind"] as? String == "Debouncer")
        #expect((early["dueIn"] as? Double ?? 0) > 3000 && early["failed"] as? Int == 0)
    }

    @Test func `the end of a program is told, and the next one at the path is shown`() throws {
        let first = try socket.startProgram()
        let page = try ServeProcess(topOf: socket.path)
        let events = try Events(page)
        _ = try events.program()
        first.signal(SIGKILL)
        #expect(try events.away() == "\(socket.path): the program has ended, or lets nobody look any more")
        // A page that is opened now learns it, too.
        #expect(try Events(page).away().hasPrefix(socket.path))
        let second = try socket.startProgram()
        #expect(try events.program()["process"] as? Int == Int(second.group))
    }

    @Test func `a program that is stopped is said to be silent until it goes on, or another one has its path`() throws {
        let other = ProgramSocket()
        let programs = try [socket, other].map { try $0.startProgram() }
        let all = try [socket, other].map { try Events(try ServeProcess(topOf: $0.path)) }
        for (events, program) in zip(all, programs) {
            _ = try events.program()
            program.signal(SIGSTOP)
        }
        unlink(other.path)
        let second = try other.startProgram()
        #expect(try all[0].away() == "\(socket.path): the program does not answer; it may be stopped")
        #expect(try all[1].away() == "\(other.path): the program does not answer; it may be stopped")
        programs[0].signal(SIGCONT)
        #expect(try all[0].program()["process"] as? Int == Int(programs[0].group))
        #expect(try all[1].program()["process"] as? Int == Int(second.group))
    }

    @Test func `what another program answers later is told, and nothing of it is passed on`() throws {
        let program = try socket.startProgram()
        let page = try ServeProcess(topOf: socket.path)
        let events = try Events(page)
        _ = try events.program()
        program.signal(SIGKILL)
        _ = try events.away()
        unlink(socket.path)
        let listener = try socket.startAnswering("HTTP/1.1 400 Bad Request\r\n\r\n")
        defer { shutdown(listener, Int32(SHUT_RDWR)) }
        #expect(try events.away { $0.contains("none with") }.hasSuffix("it answers something else"))
    }

    @Test func `names that would break an event are passed on as text`() throws {
        let row =
            #""keys":0,"pending":0,"waiting":0,"dueIn":null,"running":0,"started":0,"submitted":0,"executed":0,"#
            + #""superseded":0,"absorbed":0,"cancelled":0,"rejected":0,"failed":0,"restarted":0,"overdue":0"#
        let debouncer = #"{"id":1,"where":"a\r\n\n<script>","kind":"\u2028","policy":"\"","extra":[],\#(row)}"#
        let line = #"{"lull":1,"process":7,"name":"\r\n\r\ndata: x","time":1.5,"left":0,"debouncers":[\#(debouncer)]}"#
        let listener = try socket.startAnswering(line + "\n", staysOpen: true)
        defer { shutdown(listener, Int32(SHUT_RDWR)) }
        let program = try Events(try ServeProcess(topOf: socket.path)).program()
        #expect(program["name"] as? String == "\r\n\r\ndata: x")
        #expect(Self.rows(program)[0]["where"] as? String == "a\r\n\n<script>")
        #expect(Self.rows(program)[0]["extra"] == nil)
    }

    @Test func `what has become of the path is told`() throws {
        let program = try socket.startProgram()
        let events = try Events(try ServeProcess(topOf: socket.path))
        _ = try events.program()
        program.signal(SIGKILL)
        #expect(try events.away().hasSuffix("the program has ended, or lets nobody look any more"))
        unlink(socket.path)
        mkdir(socket.path, 0o700)
        defer { rmdir(socket.path) }
        #expect(try events.away { $0.hasSuffix("it is no socket of a program") } != "")
    }

    @Test func `while no page is open the program has no reader`() throws {
        let program = try socket.startProgram()
        let page = try ServeProcess(topOf: socket.path)
        var events: Events? = try Events(page)
        _ = try events?.program()
        /// Whether eight others can look, the most at a time.
        func hasRoomForAll() -> Bool {
            let readers = (0..<8).map { _ in lull_socket_connect(socket.path) }
            defer { for reader in readers where reader >= 0 { close(reader) } }
            return readers.allSatisfy { reader in
                var interest = pollfd(descriptor: reader, Int32(POLLIN))
                var bytes = [UInt8](repeating: 0, count: 64)
                guard reader >= 0, poll(&interest, 1, 10_000) == 1 else { return false }
                let count = recv(reader, &bytes, bytes.count, 0)
                return !String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).contains("refused")
            }
        }
        #expect(!hasRoomForAll())
        events = nil
        try eventually("it leaves the program alone") { hasRoomForAll() }
        // Of pages that are closed before their stream has begun, none is taken for open.
        for _ in 0..<20 {
            try page.connect().send("GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        }
        _ = try page.get("/")
        try eventually("it leaves the program alone again") { hasRoomForAll() }
        withExtendedLifetime(program) {}
    }

    // MARK: - Who is let in

    @Test func `requests that a page of another site has sent are refused, and names that lead here`() throws {
        let program = try socket.startProgram()
        let page = try ServeProcess(topOf: socket.path)
        for path in ["/", "/api/events"] {
            for host in ["evil.example", "127.0.0.1.evil.example", ""] {
                let answer = try page.get(path, ["Host": host])
                #expect(answer.status == 421 && answer.error.hasSuffix("is not this server's"), "\(path) \(host)")
            }
            for fields in [
                ["Origin": "https://evil.example"], ["Origin": "null"], ["Sec-Fetch-Site": "cross-site"],
                ["Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"], ["Origin": "http://127.0.0.1:1"],
            ] {
                #expect(try page.get(path, fields).status == 403, "\(path) \(fields)")
            }
            #expect(try page.get("\(path)?token=abcdefghijklmnopq").status == 400)
            #expect(try page.post(path, "").status == 405)
        }
        for path in ["/metrics", "/health", "/api/me", "/api/keys", "/v1/default/a", "/index.html", "/../etc/passwd"] {
            let answer = try page.get(path)
            #expect(answer.status == 404 && answer.error.hasPrefix("there is nothing at "), "\(path)")
        }
        withExtendedLifetime(program) {}
    }

    @Test func `it listens only where this machine reaches it`() throws {
        let program = try socket.startProgram()
        for place in ["0.0.0.0:0", "[::]:0"] {
            let outcome = try lull("top", "--page", "--listen", place, socket.path)
            #expect(outcome.ending == 64 && outcome.errors.contains("would let other machines in"), "\(outcome)")
        }
        // That is said before a program is looked for.
        let wrong = try lull("top", "--page", "--listen", "8080", socket.path + "x")
        #expect(wrong.ending == 64)
        #expect(
            wrong.errors.contains("--listen must be HOST:PORT or unix:PATH, not \"8080\": write 127.0.0.1:8080 (see"))
        let alone = try lull("top", "--listen", "127.0.0.1:0", socket.path)
        #expect(alone.ending == 64 && alone.errors.contains("--listen needs --page"), "\(alone)")
        let both = try lull("top", "--page", "--json", socket.path)
        #expect(both.ending == 64 && both.errors.contains("exclude each other"), "\(both)")
        let coloured = try lull("top", "--page", "--color", "always", socket.path)
        #expect(coloured.ending == 64 && coloured.errors.contains("exclude each other"), "\(coloured)")
        let place = ProgramSocket()
        let page = try ServeProcess(topOf: socket.path, socket: place.path)
        #expect(try page.get("/").status == 200)
        page.process.signal(SIGTERM)
        #expect(try page.process.finish().ending == -SIGTERM)
        #expect(access(place.path, F_OK) != 0)
        withExtendedLifetime(program) {}
    }

    @Test func `pages that are not read keep nobody out`() throws {
        let program = try socket.startProgram()
        let page = try ServeProcess(topOf: socket.path)
        let open = try (0..<TopEndpoint.mostPages).map { _ in try Events(page) }
        for events in open { _ = try events.program() }
        #expect(try page.get("/").status == 200)
        let answer = try page.get("/api/events")
        #expect(answer.status == 503 && answer.error == "32 pages are open already")
        withExtendedLifetime((program, open)) {}
    }

    // MARK: - How it ends

    @Test func `a path where no program can be looked into is refused as without the page`() throws {
        let path = socket.path
        let outcome = try lull("top", "--page", path)
        #expect(outcome.ending == 1)
        #expect(outcome.errors == "lull: \(path): there is nothing. Start the program with LULL_INSPECT=\(path)\n")
        let listener = try socket.startAnswering("{\"lull\":2}\n")
        defer { shutdown(listener, Int32(SHUT_RDWR)) }
        let newer = try lull("top", "--page", path)
        #expect(newer.ending == 1 && newer.errors.hasSuffix("the program has a newer Lull than this command\n"))
    }

    @Test func `a signal ends it, with pages that are open`() throws {
        let program = try socket.startProgram()
        let page = try ServeProcess(topOf: socket.path)
        let events = try Events(page)
        _ = try events.program()
        page.process.signal(SIGINT)
        #expect(try page.process.finish().ending == -SIGINT)
        #expect(throws: POSIXError.self) { _ = try events.next { _ in false } }
        withExtendedLifetime(program) {}
    }
}
