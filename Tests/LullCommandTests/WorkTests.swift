import CLullCommand
import Foundation
import TestSupport
import Testing

/// The commands of `lull work`: what they are given, and what happens to them when the worker stops or is killed.
@Suite("lull work, its commands", .ownThreads)
final class WorkTests {
    private let folder: TestStore

    init() throws {
        folder = try TestStore(.file)
    }

    private var store: [String] { folder.option }

    private func submit(_ options: String) throws {
        let arguments = ["submit"] + store + options.split(separator: " ").map(String.init)
        #expect(try lull(arguments, input: []).ending == 0)
    }

    private func work(_ options: String, _ script: String) throws -> ToolProcess {
        try ToolProcess(["work"] + store + options.split(separator: " ").map(String.init) + ["--", "sh", "-c", script])
    }

    @Test func `a command gets its fence`() throws {
        try submit("--wait 0 k v")
        let worker = try work("", "echo $LULL_RUN $LULL_ATTEMPT $LULL_FENCE; [ $LULL_ATTEMPT = 2 ]")
        let first = try worker.line().split(separator: " ").compactMap { Int($0) }
        let second = try worker.line().split(separator: " ").compactMap { Int($0) }
        worker.signal(SIGTERM)
        #expect(try worker.finish().ending == -SIGTERM)
        try #require(first.count == 3 && second.count == 3)
        #expect(first[0] == second[0] && first[1] == 1 && second[1] == 2)
        #expect(second[2] > first[2])
        // Without a store there is no fence, whatever the environment had.
        let outcome = try lull(
            ["run", "--wait", "1h", "--", "sh", "-c", "echo ${LULL_FENCE-none}"], input: Array("x\n".utf8),
            environment: ["LULL_FENCE": "7"])
        #expect(outcome.output == "none\n")
    }

    @Test func `a command gets the context of the newest submit, in every attempt, and none if it had none`() throws {
        try submit("--wait 0 --context old k v")
        try submit("--context 00-trace-01 k w")
        try submit("--context old n v")
        try submit("n w")
        let worker = try work("--jobs 1", "echo $LULL_KEY $LULL_ATTEMPT ${LULL_CONTEXT-none}; [ $LULL_ATTEMPT = 2 ]")
        let lines = try (0..<4).map { _ in try worker.line() }
        worker.signal(SIGTERM)
        #expect(try worker.finish().ending == -SIGTERM)
        #expect(lines.sorted() == ["k 1 00-trace-01", "k 2 00-trace-01", "n 1 none", "n 2 none"])
        let long = try lull(
            ["submit"] + store + ["--context", String(repeating: "c", count: 1025), "k", "v"], input: [])
        #expect(long.ending == 65)
        #expect(long.errors.contains("the context has 1025 bytes, but 1024 are the most that is taken"))
        // Without a store there is none, whatever the environment had.
        let outcome = try lull(
            ["run", "--wait", "1h", "--", "sh", "-c", "echo ${LULL_CONTEXT-none}"], input: Array("x\n".utf8),
            environment: ["LULL_CONTEXT": "outer"])
        #expect(outcome.output == "none\n")
    }

    /// Returns a recipe of the page, by its number.
    private func recipe(_ number: Int) throws -> String {
        let page = try String(
            contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../docs/command.md"), encoding: .utf8)
        let blocks = page.components(separatedBy: "```sh\n").dropFirst()
        return try #require(blocks.dropFirst(number).first?.components(separatedBy: "```").first)
    }

    @Test(.enabled(if: access("/usr/bin/python3", X_OK) == 0 && access("/usr/bin/curl", X_OK) == 0))
    func `the recipe comes back when the service says so`() throws {
        let service = try ToolProcess(
            [
                "-c",
                """
                import http.server
                class Away(http.server.BaseHTTPRequestHandler):
                    def do_POST(self):
                        self.send_response(429); self.send_header("Retry-After", "7200"); self.end_headers()
                    def log_message(self, *more): pass
                server = http.server.HTTPServer(("127.0.0.1", 0), Away)
                print(server.server_port, flush=True)
                server.serve_forever()
                """,
            ], program: "/usr/bin/python3")
        defer { service.signal(SIGKILL) }
        let url = "http://127.0.0.1:\(try service.line())"
        let script = try TemporaryFile(try recipe(0).replacing("https://example.com", with: url))
        try submit("--wait 0 k v")
        let worker = try ToolProcess(["work"] + store + ["--", "sh", script.path])
        #expect(try worker.errorLine().contains("429"))
        var message = try worker.errorLine()
        while !message.contains("attempt 1 failed") { message = try worker.errorLine() }
        #expect(message.contains("the next is in 2h"), "\(message)")
        worker.signal(SIGTERM)
        _ = try worker.finish()
    }

    @Test func `the recipe refuses an older fence`() throws {
        let recipe = try recipe(1)
        #expect(recipe.contains("LULL_FENCE"))
        let script = try TemporaryFile(recipe.replacingOccurrences(of: "/var/lib/lamps", with: folder.path))
        for (fence, value, left) in [("5", "a", "a"), ("3", "b", "a"), ("5", "c", "c"), ("11", "d", "d")] {
            let outcome = try ToolProcess(
                [script.path], environment: ["LULL_FENCE": fence, "LULL_KEY": "hall"], program: "/bin/sh")
            outcome.send(value)
            #expect(try outcome.finish().ending == 0)
            #expect(try String(contentsOfFile: folder.path + "/hall", encoding: .utf8) == left)
        }
    }

    @Test(.enabled(if: access("/usr/bin/curl", X_OK) == 0))
    func `the recipe with a service escapes the key`() throws {
        let text = try recipe(2)
        let start = try #require(text.range(of: "sh -c '")).upperBound
        let end = try #require(text.lastIndex(of: "'"))
        // Nothing listens there, but curl still prints its request.
        let command = String(text[start..<end]).replacing("https://example.com", with: "http://127.0.0.1:1")
        try "write-out = \"%{url_effective}\"\n".write(
            toFile: folder.path + "/.curlrc", atomically: true, encoding: .utf8)
        let outcome = try ToolProcess(
            ["-c", command],
            environment: [
                "LULL_KEY": "a/b?c&d=e #ü%\n@x", "LULL_RUN": "7", "LULL_FENCE": "9", "CURL_HOME": folder.path,
                "PATH": "/usr/bin:/bin",
            ], program: "/bin/sh"
        ).finish()
        #expect(outcome.output.lowercased() == "http://127.0.0.1:1/hooks?key=a%2fb%3fc%26d%3de+%23%c3%bc%25%0a%40x")
    }

    @Test(.enabled(if: access("/usr/bin/openssl", X_OK) == 0))
    func `the recipe for a signature signs the exact bytes`() throws {
        let text = try recipe(3)
        let start = try #require(text.range(of: "sh -c '")).upperBound
        let end = try #require(text.lastIndex(of: "'"))
        try submit("--wait 0 k {\"n\":1}")
        let command = ["--", "sh", "-c", "SECRET=s; \(text[start..<end])", "sh", "{value}"]
        let worker = try ToolProcess(["work"] + store + command)
        // printf %s '{"n":1}' | openssl dgst -sha256 -hmac s
        let digest = "cd8c1bfa87da5e5018df39e48d61d9a07e5046fc7b8999c01a96444861114adb"
        #expect(try worker.line().hasSuffix(digest))
        worker.signal(SIGTERM)
        _ = try worker.finish()
    }

    #if os(Linux)
        // With Linux's `flock` and `setsid`.
        @Test func `a second attempt never runs beside the first`() throws {
            try submit("--wait 0 k v")
            // Every descendant of an attempt holds the lock.
            let script = """
                exec 9>'\(folder.path)/lock'; flock -n 9 || { echo overlap; exit; }
                echo $LULL_ATTEMPT; [ $LULL_ATTEMPT = 2 ] || { setsid sleep 600; }
                """
            let first = try work("--lease 1s", script)
            #expect(try first.line() == "1")
            first.signal(SIGKILL)
            _ = try first.end()
            let second = try work("--lease 1s", script)
            #expect(try second.line() == "2")
            second.signal(SIGTERM)
            #expect(try second.finish().ending == -SIGTERM)
        }

        @Test(arguments: [true, false])
        func `a worker that was stopped beyond its lease does not start what it has lost`(_ goesOn: Bool) throws {
            let first = try work("--wait 0 --lease 1s", "echo $PPID")
            try submit("--wait 0 k v")
            let supervisor = try #require(pid_t(try first.line()))
            try eventually("the first run has ended") {
                try lull(["list", "--json"] + store, input: []).output.isEmpty
            }
            // The request to start the command now waits where the supervisor gets it.
            kill(supervisor, SIGSTOP)
            try submit("--wait 0 l v")
            try eventually("the run is claimed") {
                (try? lull(["list", "--json", "l"] + store, input: []).output.contains("running")) == true
            }
            // After the request.
            try eventually("the lease is renewed") {
                try folder.run(of: "l").map { $0.runningFor + $0.leaseFor > 1.1 } == true
            }
            first.signal(SIGSTOP)
            let second = try work("--lease 600s", "echo $LULL_KEY $LULL_ATTEMPT; sleep 600")
            #expect(try second.line() == "l 2")
            if goesOn { first.signal(SIGCONT) }
            kill(supervisor, SIGCONT)
            if goesOn {
                #expect(try first.errorLine().contains("the lease was lost to another worker"))
                first.signal(SIGTERM)
            } else {
                try waitUntilIdle(supervisor)
                first.signal(SIGKILL)
                first.signal(SIGCONT)
            }
            #expect(try first.finish().output == "")
        }

        @Test func `a worker that waits for its commands uses no processor time`() throws {
            try submit("--wait 0 k v")
            let worker = try work("--lease 1s --kill-after 3s", "trap '' TERM; echo begun; sleep 600")
            #expect(try worker.line() == "begun")
            worker.signal(SIGTERM)
            var ticks = 0
            // Read it before the worker ends, and seconds after its run was given back.
            try eventually("the worker ends") {
                let now = processorTicks(worker.group)
                ticks = now ?? ticks
                return now == nil
            }
            #expect(try worker.end().ending == -SIGTERM)
            #expect(Double(ticks) / Double(sysconf(Int32(_SC_CLK_TCK))) < 0.8)
        }

        /// Returns the processor time of a running process.
        private func processorTicks(_ process: pid_t) -> Int? {
            guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
                let end = text.lastIndex(of: ")")
            else { return nil }
            let fields = text[end...].split(separator: " ")
            guard fields.count > 13, fields[1] != "Z", let user = Int(fields[12]), let system = Int(fields[13]) else {
                return nil
            }
            return user + system
        }
    #endif

    @Test func `a dead run keeps the end of its standard error`() throws {
        let outcome = try lull(
            ["run", "--wait", "0", "--attempts", "1", "--key-field", "1"] + store
                + ["--", "sh", "-c", "seq 1000 >&2; echo 'no such lamp' >&2; exit 3"], input: Array("hall 1\n".utf8))
        #expect(outcome.errors.contains(/lull: key hall, run [0-9]+: dead after attempt 1\n$/), "\(outcome.errors)")
        let list = try lull(["dead", "list", "--json"] + store, input: []).output
        #expect(list.contains("sh failed with status 3: "), "\(list)")
        #expect(list.contains("no such lamp"), "\(list)")
        #expect(list.utf8.count < 2000)
    }
}
