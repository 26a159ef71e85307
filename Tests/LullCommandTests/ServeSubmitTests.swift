import CLullCommand
import Foundation
import TestSupport
import Testing

@testable import LullCommand

/// Submits by HTTP, on every store.
@Suite("Submits to lull serve", .ownThreads, .enabled(if: ServeProcess.isInstalled))
struct ServeSubmitTests {
    private static func started(_ kind: TestStore.Kind = .file, _ options: [String] = []) throws -> (
        TestStore, ServeProcess
    ) {
        let store = try TestStore(kind)
        _ = try store.run("submit --wait 1h first 1")
        return (store, try ServeProcess(store, options))
    }

    @Test func `a submit is answered with the receipt, and recorded`() throws {
        let (store, serve) = try Self.started()
        let answer = try serve.post("/v1/default/repo-7", #"{"n":1}"#)
        #expect(answer.status == 202 && answer.fields["content-type"] == "application/json")
        #expect(answer.object["key"] as? String == "repo-7" && answer.object["dueIn"] as? Double == 3600)
        #expect(answer.object["generation"] as? Int64 != nil)
        #expect(try store.status() == ["pending": 2])
        #expect(try store.run("flush repo-7").ending == 0)
        let worked = try store.run("run --at-end wait -- sh -c", [#"printf '%s=%s' "$LULL_KEY" "$(cat)""#])
        #expect(worked.output == #"repo-7={"n":1}"#)
    }

    @Test func `keys are decoded, and may have slashes`() throws {
        let (_, serve) = try Self.started()
        #expect(try serve.post("/v1/default/a/b", "1").object["key"] as? String == "a/b")
        #expect(try serve.post("/v1/default/a%2Fb", "1").object["generation"] as? Int64 ?? 0 > 1)
        #expect(try serve.post("/v1/default/%C3%BC%20%2B+", "1").object["key"] as? String == "ü ++")
        let binary = try serve.post("/v1/default/%FF%00", "1")
        #expect(binary.object["key"] as? [String: String] == ["base64": "/wA="])
    }

    @Test func `a delay, a token and a context come with the header`() throws {
        let (store, serve) = try Self.started()
        let fields = ["Lull-After": "2s", "Idempotency-Key": "once", "Lull-Context": "trace-1"]
        let first = try serve.post("/v1/default/a", "1", fields)
        #expect(first.object["dueIn"] as? Double == 2)
        let again = try serve.post("/v1/default/a", "1", fields)
        #expect(again.status == 202 && again.object["generation"] as? Int64 == first.object["generation"] as? Int64)
        let other = try serve.post("/v1/default/b", "1", fields)
        #expect(other.status == 400 && other.error.contains("once"))
        _ = try store.run("flush a")
        let worked = try store.run("run --at-end wait -- sh -c", [#"printf %s "$LULL_CONTEXT""#])
        #expect(worked.output == "trace-1")
        #expect(try serve.post("/v1/default/a", "1", ["Lull-After": "2"]).error.hasPrefix("Lull-After: "))
    }

    @Test func `what cannot be recorded is refused with the reason`() throws {
        let (store, serve) = try Self.started()
        let before = try store.status()
        let refusals: [(String, ServeProcess.Answer, Int, String)] = [
            ("an unknown namespace", try serve.post("/v1/nope/a", "1"), 404, "there is no namespace nope"),
            ("no key", try serve.post("/v1/default/", "1"), 400, "the key is empty"),
            ("no namespace", try serve.post("/v1/default", "1"), 400, "POST /v1/NAMESPACE/KEY"),
            (
                "a long key", try serve.post("/v1/default/\(String(repeating: "k", count: 1025))", "1"), 400,
                "1025 bytes"
            ),
            ("half a byte", try serve.post("/v1/default/a%4", "1"), 400, "a % that begins no byte"),
            ("an empty token", try serve.post("/v1/default/a", "1", ["Idempotency-Key": ""]), 400, "is empty"),
            ("another method", try serve.request("PUT", "/v1/default/a", body: []), 405, "takes POST, not PUT"),
            (
                "a long context",
                try serve.post("/v1/default/a", "1", ["Lull-Context": String(repeating: "c", count: 1025)]),
                400, "1025 bytes"
            ),
            ("another path", try serve.post("/nothing", "1"), 404, "there is nothing at /nothing"),
        ]
        for (what, answer, status, reason) in refusals {
            #expect(answer.status == status && answer.error.contains(reason), "\(what): \(answer)")
        }
        #expect(try store.status() == before)
    }

    @Test(arguments: ["Idempotency-Key", "Lull-After", "Lull-Context"])
    func `a field that says how to record is not ignored when it comes twice`(_ name: String) throws {
        let (store, serve) = try Self.started()
        let answer = try serve.post("/v1/default/a", "1", [name: "1s", name.lowercased(): "2s"])
        #expect(answer.status == 400 && answer.error == "\(name) is given more than once")
        #expect(try store.status() == ["pending": 1])
    }

    @Test func `bytes that are not UTF-8 do not make two tokens one, and are refused in a path`() throws {
        let (store, serve) = try Self.started()
        func post(_ key: [UInt8], token: UInt8) throws -> ServeProcess.Answer {
            let connection = try serve.connect()
            connection.send(
                Array("POST /v1/default/".utf8) + key
                    + Array(" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n".utf8)
                    + Array("Content-Length: 1\r\nIdempotency-Key: ".utf8) + [token] + Array("\r\n\r\n1".utf8))
            return ServeProcess.parse(connection.readToEnd())
        }
        let first = try post(Array("a".utf8), token: 0xE8).object["generation"] as? Int64
        let second = try post(Array("a".utf8), token: 0xE9).object["generation"] as? Int64
        #expect(first != nil && second != nil && first != second)
        let refused = try post([0xE9], token: 0x61)
        #expect(refused.status == 400 && refused.error.contains("not UTF-8"), "\(refused)")
        #expect(try store.status() == ["pending": 2])
    }

    @Test func `a value may have 16 MiB, and no more`() throws {
        let (store, serve) = try Self.started()
        let most = [UInt8](repeating: UInt8(ascii: "x"), count: 16 << 20)
        #expect(try serve.request("POST", "/v1/default/big", body: most).status == 202)
        // Its head alone is enough to refuse it.
        let larger = try serve.connect()
        larger.send("POST /v1/default/big HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(most.count + 1)\r\n\r\n")
        #expect(ServeProcess.parse(larger.readToEnd()).status == 413)
        let chunked = try serve.connect()
        chunked.send(
            "POST /v1/default/big2 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n"
        )
        for _ in 0..<17 { chunked.send(Array("100000\r\n".utf8) + most.prefix(1 << 20) + Array("\r\n".utf8)) }
        chunked.send("0\r\n\r\n")
        #expect(ServeProcess.parse(chunked.readToEnd()).status == 413)
        #expect(try store.status() == ["pending": 2])
    }

    @Test func `a namespace that merges takes JSON alone`() throws {
        let store = try TestStore(.file)
        _ = try store.run("submit --wait 1h --combine merge-json a", [#"{"x":1}"#])
        let serve = try ServeProcess(store)
        #expect(try serve.post("/v1/default/a", #"{"y":2}"#).status == 202)
        let refused = try serve.post("/v1/default/a", "{y}")
        #expect(refused.status == 400 && refused.error.contains("is not JSON"))
    }

    @Test func `only the given namespaces are served`() throws {
        let store = try TestStore(.file)
        for name in ["one", "two"] { _ = try store.run("submit --wait 1h --namespace \(name) a 1") }
        let serve = try ServeProcess(store, ["--namespace", "one"])
        #expect(try serve.post("/v1/one/a", "1").status == 202)
        #expect(try serve.post("/v1/two/a", "1").status == 404)
        #expect(try serve.get("/api/keys?namespace=two").status == 404)
        #expect(!(try serve.get("/metrics").text.contains("two")))
    }

    @Test func `a store that is full asks to come back, and one that is away says so`() throws {
        guard TestRedis.isInstalled else { return }
        let server = try TestRedis(["maxmemory-policy noeviction"])
        let url = server.url(1)
        let store = try TestStore(url: url)
        _ = try store.run("submit --wait 1h first 1")
        let serve = try ServeProcess(store, ["--patience", "1s"])
        try server("CONFIG", "SET", "maxmemory", "1")
        let full = try serve.post("/v1/default/a", "1")
        #expect(full.status == 429 && full.fields["retry-after"] != nil && full.error.contains("is full"), "\(full)")
        try server("CONFIG", "SET", "maxmemory", "0")
        #expect(try serve.post("/v1/default/a", "1").status == 202)
        server.crash()
        let away = try serve.post("/v1/default/a", "1")
        #expect(away.status == 503 && away.fields["retry-after"] != nil, "\(away)")
        #expect(try serve.get("/health").status == 503)
    }

    @Test(arguments: [TestStore.Kind.file] + TestStore.Kind.servers)
    func `a namespace that the store could not have is not there`(_ kind: TestStore.Kind) throws {
        let (_, serve) = try Self.started(kind)
        #expect(try serve.post("/v1/def%00ault/a", "1").status == 404)
        #expect(try serve.get("/api/keys?namespace=def%00ault").status == 404)
    }

    @Test func `a store that is away is waited for once, and not for each submit that waits`() throws {
        guard TestRedis.isInstalled else { return }
        let server = try TestRedis([])
        let store = try TestStore(url: server.url(1))
        _ = try store.run("submit --wait 1h first 1")
        let serve = try ServeProcess(store, ["--patience", "1s"])
        server.crash()
        let begun = ContinuousClock.now
        let connections = try (0..<20).map { number in
            let connection = try serve.connect()
            connection.send(
                "POST /v1/default/\(number) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                    + "Content-Length: 1\r\n\r\n1"
            )
            return connection
        }
        for connection in connections { #expect(ServeProcess.parse(connection.readToEnd()).status == 503) }
        #expect(ContinuousClock.now - begun < .seconds(10))
    }

    @Test func `clients cannot take the descriptors that the program needs`() throws {
        let store = try TestStore(.file)
        _ = try store.run("submit --wait 1h first 1")
        let serve = try ServeProcess(store, descriptors: 64)
        let first = try serve.connect()
        func metrics() -> String? {
            first.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
            return first.read(until: "lull_serve_pages ")
        }
        #expect(metrics()?.contains("lull_serve_connections 1\n") == true)
        let others = try (0..<80).map { _ in try serve.connect() }
        var last: String?
        try eventually("as many are taken as may be") {
            last = metrics()
            return last?.contains("lull_serve_connections 32\n") != false
        }
        #expect(last != nil)
        for other in others { other.finish() }
        #expect(try serve.post("/v1/default/a", "1").status == 202)
    }

    @Test func `a signal ends it when what is under way has been answered`() throws {
        let (store, serve) = try Self.started()
        let slow = try serve.connect()
        slow.send("POST /v1/default/late HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nab")
        let idle = try serve.connect()
        #expect(try serve.post("/v1/default/early", "1").status == 202)
        serve.process.signal(SIGTERM)
        let outcome = try serve.process.finish()
        #expect(outcome.ending == -SIGTERM && !outcome.errors.contains("error"), "\(outcome)")
        #expect(idle.readToEnd() == [] && slow.readToEnd() == [])
        #expect(try store.status() == ["pending": 2])
    }
}
