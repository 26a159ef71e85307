import CLullCommand
import Foundation
import LullHTTP
import TestSupport
import Testing

@testable import LullCommand

/// Events of other services.
@Suite("Hooks of lull serve", .ownThreads, .enabled(if: ServeProcess.isInstalled))
struct ServeHookTests {
    private let store: TestStore
    private let secret: TemporaryFile

    init() throws {
        store = try TestStore(.file)
        _ = try store.run("submit --wait 1h --namespace ci first 1")
        secret = try TemporaryFile("a secret\n")
        chmod(secret.path, 0o600)
    }

    private func file(_ text: String) throws -> TemporaryFile { try TemporaryFile(text) }

    private func signature(_ body: String) -> String {
        "sha256="
            + HTTPLibrary.hmac(of: Array(body.utf8), key: Array("a secret".utf8)).map {
                String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)
            }.joined()
    }

    @Test func `an event of GitHub is recorded once, under the key in its body`() throws {
        let hooks = try file(
            #"{"/github": {"namespace": "ci", "key": "/repository/full_name", "verify": "github", "secret-file": "#
                + #""\#(secret.path)"}}"#
        )
        let serve = try ServeProcess(store, ["--hooks", hooks.path])
        let body = #"{"repository": {"full_name": "acme/site"}, "n": 1}"#
        let fields = ["X-Hub-Signature-256": signature(body), "X-GitHub-Delivery": "d-1"]
        let first = try serve.post("/github", body, fields)
        #expect(first.status == 202 && first.object["key"] as? String == "acme/site", "\(first)")
        let again = try serve.post("/github", body, fields)
        #expect(again.object["generation"] as? Int64 == first.object["generation"] as? Int64)
        let forged = try serve.post("/github", body + " ", fields)
        #expect(forged.status == 401 && forged.error.contains("does not match"))
        let keyless = #"{"zen": "quiet"}"#
        let refused = try serve.post("/github", keyless, ["X-Hub-Signature-256": signature(keyless)])
        #expect(refused.status == 400 && refused.error.contains("no value at the pointer"))
        #expect(try serve.get("/github").status == 405)
        #expect(try store.status() == ["pending": 2])
    }

    /// As floating-point numbers they are equal (riverui#593).
    @Test func `large numbers in the bodies of events are keys of their own`() throws {
        let hooks = try file(#"{"/jobs": {"namespace": "ci", "key": "/id", "verify": "none"}}"#)
        let serve = try ServeProcess(store, ["--hooks", hooks.path])
        for id in ["9007199254740992", "9007199254740993"] {
            let answer = try serve.post("/jobs", #"{"id": \#(id)}"#)
            #expect(answer.status == 202 && answer.object["key"] as? String == id, "\(answer)")
        }
        #expect(try store.status() == ["pending": 3])
    }

    @Test func `Slack is told that the address is right`() throws {
        let hooks = try file(
            #"{"/slack": {"namespace": "ci", "verify": "slack", "secret-file": "\#(secret.path)"}}"#)
        let serve = try ServeProcess(store, ["--hooks", hooks.path])
        let (body, time) = (
            #"{"type": "url_verification", "challenge": "3eZbrw1a"}"#, "\(Int(Date().timeIntervalSince1970))"
        )
        let signed = signature("v0:\(time):\(body)").replacing("sha256=", with: "v0=")
        let answer = try serve.post("/slack", body, ["X-Slack-Request-Timestamp": time, "X-Slack-Signature": signed])
        #expect(answer.status == 200 && answer.text == "3eZbrw1a")
        #expect(try serve.post("/slack", body).status == 401)
        #expect(try store.status() == ["pending": 1])
    }

    @Test func `a hook without a pointer has one key, and a bearer token lets in`() throws {
        let hooks = try file(#"{"/deploy": {"namespace": "ci", "verify": "bearer", "secret-env": "DEPLOY_SECRET"}}"#)
        let process = try store.start("serve --listen 127.0.0.1:0 --hooks", [hooks.path])
        let missing = try process.finish()
        #expect(
            missing.ending == 65 && missing.errors.contains("/deploy: the environment has no variable DEPLOY_SECRET"))
        let serve = try ServeProcess(store, ["--hooks", hooks.path], environment: ["DEPLOY_SECRET": "a-long-token"])
        let answer = try serve.post("/deploy", "anything", ["Authorization": "Bearer a-long-token"])
        #expect(answer.status == 202 && answer.object["key"] as? String == "/deploy")
        // The name of the scheme may be written in any way, the token may not.
        #expect(try serve.post("/deploy", "anything", ["Authorization": "bearer a-long-token"]).status == 202)
        for wrong in [
            "Bearer another", "Bearer a-long-toke", "Bearer a-long-token2", "Bearer A-LONG-TOKEN", "Bearer ", "Bearer",
            "Basic a-long-token", "a-long-token",
        ] {
            let refused = try serve.post("/deploy", "anything", ["Authorization": wrong])
            #expect(refused.status == 401 && refused.error.contains("missing or wrong"), "\(wrong): \(refused)")
        }
        #expect(try serve.post("/deploy", "anything").status == 401)
        #expect(try store.status() == ["pending": 2])
    }

    @Test func `an event with a bearer token counts once by its own token`() throws {
        let hooks = try file(
            #"{"/deploy": {"namespace": "ci", "key": "/id", "verify": "bearer", "secret-file": "\#(secret.path)"}}"#)
        let serve = try ServeProcess(store, ["--hooks", hooks.path])
        let fields = ["Authorization": "Bearer a secret", "Idempotency-Key": "e-1"]
        let first = try serve.post("/deploy", #"{"id": "site"}"#, fields)
        #expect(first.status == 202, "\(first)")
        let again = try serve.post("/deploy", #"{"id": "site"}"#, fields)
        #expect(again.object["generation"] as? Int64 == first.object["generation"] as? Int64)
        let empty = try serve.post("/deploy", #"{"id": ""}"#, ["Authorization": "Bearer a secret"])
        #expect(empty.status == 400 && empty.error == "the key in the body is empty", "\(empty)")
        #expect(try store.status() == ["pending": 2])
    }

    @Test func `a store that does not answer is not waited for longer than services and Prometheus wait`() async throws
    {
        guard TestRedis.isInstalled else { return }
        let server = try TestRedis([])
        let store = try TestStore(url: server.url(1))
        _ = try store.run("submit --wait 1h --namespace ci first 1")
        let hooks = try file(#"{"/deploy": {"namespace": "ci", "verify": "none"}}"#)
        let serve = try ServeProcess(store, ["--hooks", hooks.path])
        #expect(try serve.post("/deploy", "1").status == 202)
        server.pause()
        let begun = ContinuousClock.now
        // All at once: each takes as long.
        let requests = ["POST /deploy", "POST /deploy", "GET /metrics"]
        let answers = try requests.map { request in
            let connection = try serve.connect()
            connection.send(
                "\(request) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            return connection
        }.map { ServeProcess.parse($0.readToEnd()) }
        #expect(ContinuousClock.now - begun < .seconds(10))
        server.unpause()
        #expect(answers.map(\.status) == [503, 503, 200])
        for answer in answers[..<2] { #expect(answer.error.contains("has not answered for 8 seconds"), "\(answer)") }
        #expect(answers[0].object["unknown"] as? Bool == true)
        #expect(answers[2].text.contains("\nlull_up 0\n") && answers[2].text.contains("lull_serve_submits_total 1\n"))
        try eventually("the store answers") { (try? serve.get("/metrics"))?.text.contains("\nlull_up 1\n") == true }
    }

    @Test(arguments: [
        ("[]", "must have an object for each path"), ("{", "is not JSON"), ("{}", "has no hook"),
        (#"{"/a": {"verify": "none"}}"#, "/a: the namespace is missing"),
        (#"{"/a": {"namespace": "ci"}}"#, "/a: verify is missing"),
        (#"{"/a": {"namespace": "ci", "verify": "gitlab"}}"#, "not \"gitlab\""),
        (#"{"/a": {"namespace": "ci", "verify": "github"}}"#, "secret-file or secret-env"),
        (#"{"/a": {"namespace": "ci", "verify": "none", "secert": "x"}}"#, "there is no member \"secert\""),
        (#"{"/a": {"namespace": "ci", "verify": "none", "key": "id"}}"#, "a JSON pointer such as"),
        (#"{"/a": {"namespace": "ci", "verify": "none", "key": ""}}"#, "/a: key is empty: leave it out"),
        (#"{"/v1/a": {"namespace": "ci", "verify": "none"}}"#, "paths under /v1/ have another meaning"),
        (#"{"/page/a": {"namespace": "ci", "verify": "none"}}"#, "paths under /page/ have another meaning"),
        (#"{"a": {"namespace": "ci", "verify": "none"}}"#, "the path must begin with /"),
        (#"{"/a": {"namespace": "ci", "verify": "none", "secret-env": "HOME"}}"#, "verify none needs no secret"),
        (#"{"/a": {"namespace": "ci", "verify": "standard-webhooks", "secret-env": "LANG_"}}"#, "no variable LANG_"),
    ])
    func `a file that is wrong says where`(_ text: String, _ reason: String) throws {
        let hooks = try file(text)
        let outcome = try store.run("serve --listen 127.0.0.1:0 --hooks", [hooks.path])
        #expect(outcome.ending == 65 && outcome.errors.contains(reason), "\(outcome.errors)")
    }

    @Test func `a hook to a namespace that is not there is refused before an event is lost`() throws {
        let hooks = try file(#"{"/a": {"namespace": "cy", "verify": "none"}}"#)
        let missing = try store.run("serve --listen 127.0.0.1:0 --hooks", [hooks.path])
        #expect(missing.ending == 64 && missing.errors.contains("the hook /a: there is no namespace cy"), "\(missing)")
        _ = try store.run("submit --wait 1h --namespace cy first 1")
        let outcome = try store.run("serve --listen 127.0.0.1:0 --namespace ci --hooks", [hooks.path])
        #expect(outcome.ending == 65 && outcome.errors.contains("its namespace cy is not served"), "\(outcome)")
    }

    @Test func `a secret that others can read is refused`() throws {
        chmod(secret.path, 0o644)
        let hooks = try file(
            #"{"/a": {"namespace": "ci", "verify": "github", "secret-file": "\#(secret.path)"}}"#)
        let outcome = try store.run("serve --listen 127.0.0.1:0 --hooks", [hooks.path])
        #expect(outcome.ending == 1 && outcome.errors.contains("can be read or written by other users: chmod 600"))
    }
}
