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

    /// An interpreter that has the client.
    private static let python: String? = {
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return (path + ["/usr/bin"]).map { $0 + "/python3" }.first { python in
            let look = Process()
            look.executableURL = URL(fileURLWithPath: python)
            look.arguments = ["-c", "import redis"]
            look.standardError = FileHandle.nullDevice
            guard (try? look.run()) != nil else { return false }
            look.waitUntilExit()
            return look.terminationStatus == 0
        }
    }()

    private func run(_ program: String) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.python ?? "")
        process.arguments = ["-c", program]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test(.enabled(if: python != nil, "python3-redis is not installed: make test-servers installs it"))
    func `submits from Python, and a token counts once`() async throws {
        let server = try TestRedis(["save ''"])
        let store = try await RedisStore(url: server.url())
        try await store.open("order-mails", DurableRules(.debounce(for: .zero), combination: .collect))
        let page = try #require(Self.page)
        let code = try #require(page.firstRange(of: "```python\n")).upperBound
        let program = page[code...].prefix(upTo: try #require(page[code...].firstRange(of: "```")).lowerBound)
            .replacing("redis.Redis()", with: "redis.Redis(unix_socket_path=\"\(server.folder)/socket\")")
        let again = program.split(separator: "\n").last ?? ""
        let printed = try run(program + "print(status, number, due_in)\n\(again)\nprint(status, number)\n")
        let words = printed.split(whereSeparator: \.isWhitespace).compactMap { Int64($0) }
        #expect(words.count == 5, "\(printed)")
        let terms = DurableClaim.Terms(owner: 1, lease: .seconds(60), maxAttempts: 3)
        let runs = try await store.claim(DurableClaim(namespace: "order-mails", terms: terms, limit: 1)).runs
        #expect(runs.first?.values == [Array(#"{"id": 17}"#.utf8)])
        let number = try #require(words.dropFirst().first)
        #expect(words == [0, number, 0, 0, number])
        #expect(runs.first?.submits.contains(number) == true)
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
        #expect(try await store.memory().used > 0)
        await store.close()
    }
}
