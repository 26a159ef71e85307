import Foundation
import LullCore
import LullDurable
import TestSupport
import Testing

@testable import LullRedis

/// The code of the module's page works as it stands there.
@Suite("The page about Redis", .onRedis, .ownThreads)
struct RedisExampleTests {
    private static let page: String? = try? String(
        contentsOfFile: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources/LullRedis/LullRedis.docc/LullRedis.md").standardizedFileURL.path,
        encoding: .utf8)

    /// A language in which the page submits.
    enum Language: String, CaseIterable, Sendable {
        case python, js

        /// The interpreter that has the client; nil if none has.
        fileprivate var interpreter: String? {
            let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
            let (name, look) = self == .python ? ("/python3", "import redis") : ("/node", "require('redis')")
            return (path + ["/usr/bin"]).map { $0 + name }.first { program in
                let process = process(program, look)
                process.standardError = FileHandle.nullDevice
                guard (try? process.run()) != nil else { return false }
                process.waitUntilExit()
                return process.terminationStatus == 0
            }
        }

        private func process(_ program: String, _ code: String) -> Process {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: program)
            process.arguments = [self == .python ? "-c" : "-e", code]
            // Where Debian has the packages of Node.
            process.environment = ProcessInfo.processInfo.environment.merging(
                ["NODE_PATH": "/usr/share/nodejs"]
            ) { $1 }
            return process
        }

        /// The code of a page with its last line, which submits, a second time; it prints both numbers.
        fileprivate func program(_ code: String, socket: String) -> String {
            let again = (code.split(separator: "\n").last ?? "").replacing("const number = ", with: "again = ")
            switch self {
            case .python:
                let code = code.replacing("redis.Redis()", with: "redis.Redis(unix_socket_path=\"\(socket)\")")
                return "\(code)\nprint(number)\n\(again)\nprint(number)\n"
            case .js:
                let code = code.replacing("createClient()", with: "createClient({ socket: { path: \"\(socket)\" } })")
                return "(async () => { \(code)\nlet \(again)\nconsole.log(number, again); await server.quit() })()"
            }
        }

        fileprivate func run(_ code: String, socket: String) throws -> String {
            let process = process(interpreter ?? "", program(code, socket: socket))
            let output = Pipe()
            process.standardOutput = output
            process.standardError = output
            try process.run()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            return text.trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    private static let languages = Language.allCases.filter { $0.interpreter != nil }

    @Test(
        .enabled(if: !languages.isEmpty, "no client for Python or Node is installed: make test-servers installs them"),
        arguments: languages)
    func `submits from other languages, and a token counts once`(_ language: Language) async throws {
        let server = try TestRedis(["save ''"])
        let store = try await RedisStore(url: server.url())
        try await store.open("order-mails", DurableRules(.debounce(for: .zero), combination: .collect))
        let page = try #require(Self.page)
        let code = try #require(page.firstRange(of: "```\(language)\n")).upperBound
        let program = page[code...].prefix(upTo: try #require(page[code...].firstRange(of: "```")).lowerBound)
        let printed = try language.run(String(program), socket: server.folder + "/socket")
        let numbers = printed.split(whereSeparator: \.isWhitespace).compactMap { Int64($0) }
        #expect(numbers.count == 2 && numbers[0] < numbers[1], "\(printed)")
        let terms = DurableClaim.Terms(owner: 1, lease: .seconds(60), maxAttempts: 3)
        let runs = try await store.claim(DurableClaim(namespace: "order-mails", terms: terms, limit: 1)).runs
        #expect(runs.first?.values == [Array(#"{"id": 17}"#.utf8)])
        #expect(try await store.brokenRules() == [])
        await store.close()
    }

    @Test
    func `names rights that are enough`() async throws {
        let page = try #require(Self.page)
        let line = try #require(page.split(separator: "\n").first { $0.hasPrefix("ACL SETUSER") })
        let words = line.split(separator: " ").map(String.init)
        let server = try TestRedis(["save ''", "user \(words.dropFirst(2).joined(separator: " "))"])
        let store = try await RedisStore(url: "redis+unix://mailer:secret@\(server.folder)/socket?durability=memory")
        try await store.open("n", DurableRules(.debounce(for: .zero)))
        _ = try await store.submit(DurableSubmission(namespace: "n", key: [1], value: [1]))
        let terms = DurableClaim.Terms(owner: 1, lease: .seconds(60), maxAttempts: 1)
        #expect(try await store.claim(DurableClaim(namespace: "n", terms: terms, limit: 1)).runs.count == 1)
        try await store.wait(in: "n", after: 0, atMost: .milliseconds(10))
        #expect(try await store.status().count == 1)
        #expect(try await store.health().memory > 0)
        await store.close()
    }
}
