import CLullCommand
import Foundation
import TestSupport
import Testing

@testable import LullCommand

/// Who is let in, and to what.
@Suite("Who may use lull serve", .ownThreads, .enabled(if: ServeProcess.isInstalled))
struct ServeAccessTests {
    private let store: TestStore

    init() throws {
        store = try TestStore(.file)
        _ = try store.run("submit --wait 1h a 1")
    }

    private func tokens(newline: String = "\n") throws -> TemporaryFile {
        let lines = [
            "# Who may what.", "submit submit-token-0123456 the shop", "look look-token-0123456789",
            "act act-token-01234567890 ada", "",
        ]
        let file = try TemporaryFile(lines.joined(separator: newline))
        chmod(file.path, 0o600)
        return file
    }

    @Test func `a name of this machine is taken, and one that another site leads here is refused`() throws {
        let serve = try ServeProcess(store)
        for host in ["localhost", "localhost:8385", "127.0.0.1", "127.9.9.9:80", "[::1]:8385", "LOCALHOST"] {
            #expect(try serve.get("/api/me", ["Host": host]).status == 200, "\(host)")
        }
        for host in [
            "evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", "128.0.0.1", "",
            "[::1]evil.example", "[::1", "[localhost]evil.example", "127.0.0.1:80@evil.example", "127.+0.0.1",
            "127.00000.0.1",
        ] {
            for (method, path) in [("GET", "/"), ("GET", "/metrics"), ("GET", "/api/me"), ("POST", "/v1/default/a")] {
                let answer = try serve.request(method, path, ["Host": host], body: method == "POST" ? [] : nil)
                #expect(answer.status == 421, "\(method) \(path) \(host): \(answer)")
            }
        }
        #expect(try store.status() == ["pending": 1])
    }

    @Test func `a request that a page of another site has sent is refused`() throws {
        let serve = try ServeProcess(store, ["--allow-actions"])
        let own = "http://127.0.0.1:\(serve.port ?? 0)"
        for fields in [
            ["Origin": "https://evil.example"], ["Origin": "null"], ["Sec-Fetch-Site": "cross-site"],
            ["Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"], ["Origin": "\(own).evil.example"],
            ["Origin": "http://127.0.0.1:1"],
        ] {
            #expect(try serve.post("/v1/default/b", "1", fields).status == 403, "\(fields)")
            #expect(try serve.act("cancel?namespace=default&all=1", "", fields).status == 403, "\(fields)")
            #expect(try serve.get("/api/keys?namespace=default", fields).status == 403, "\(fields)")
        }
        #expect(try serve.post("/api/cancel?namespace=default&all=1", "").error.contains("Lull-Page"))
        #expect(try store.status() == ["pending": 1])
        // A link of another site may lead to the page.
        let link = ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"]
        #expect(try serve.get("/", link).status == 200)
        #expect(try serve.get("/", link.merging(["Sec-Fetch-Dest": "iframe"]) { $1 }).status == 403)
        #expect(try serve.get("/api/events", link).status == 403)
        #expect(try serve.post("/v1/default/b", "1", ["Origin": own, "Sec-Fetch-Site": "same-origin"]).status == 202)
    }

    @Test func `behind a proxy its own address is taken`() throws {
        let serve = try ServeProcess(store, ["--origin", "https://lull.example.org"])
        let fields = ["Host": "lull.example.org", "Origin": "https://lull.example.org"]
        #expect(try serve.post("/v1/default/b", "1", fields).status == 202)
        #expect(try serve.post("/v1/default/b", "1", ["Origin": "https://lull.example.org"]).status == 202)
        #expect(try serve.post("/v1/default/b", "1", ["Origin": "https://evil.example.org"]).status == 403)
    }

    @Test func `a token has a role`() throws {
        let file = try tokens()
        let serve = try ServeProcess(store, ["--token-file", file.path, "--allow-actions"])
        func statuses(_ token: String?) throws -> [Int] {
            let fields = token.map { ["Authorization": "Bearer \($0)"] } ?? [:]
            return [
                try serve.post("/v1/default/a", "1", fields).status, try serve.get("/api/me", fields).status,
                try serve.get("/metrics", fields).status,
                try serve.act("touch?namespace=default&key=a", "", fields).status,
            ]
        }
        #expect(try statuses("submit-token-0123456") == [202, 403, 403, 403])
        #expect(try statuses("look-token-0123456789") == [403, 200, 200, 403])
        #expect(try statuses("act-token-01234567890") == [202, 200, 200, 200])
        #expect(try statuses(nil) == [401, 401, 401, 401])
        #expect(try statuses("act-token-0123456789") == [401, 401, 401, 401])
        #expect(try serve.get("/").status == 200 && serve.get("/health").status == 200)
        #expect(try serve.get("/api/me").fields["www-authenticate"] == "Bearer")
        serve.process.signal(SIGTERM)
        let log = try serve.process.finish().errors
        #expect(log.contains(" ada, default: touched 1 key (key a)"), "\(log)")
        #expect(!log.contains("token-0"))
    }

    @Test func `a token in the URL is refused`() throws {
        let file = try tokens()
        let serve = try ServeProcess(store, ["--token-file", file.path])
        for name in ["token", "access_token", "bearer"] {
            for path in ["/api/me", "/"] {
                let answer = try serve.get("\(path)?\(name)=act-token-01234567890")
                #expect(answer.status == 400 && answer.error.contains("Authorization: Bearer"), "\(answer)")
                #expect(!answer.error.contains("act-token"))
            }
        }
    }

    @Test func `nothing is changed without --allow-actions`() throws {
        let file = try tokens()
        for options in [[], ["--token-file", file.path]] {
            let serve = try ServeProcess(store, options)
            let fields = ["Authorization": "Bearer act-token-01234567890"]
            let answer = try serve.act("cancel?namespace=default&all=1", "", fields)
            #expect(answer.status == 403 && answer.error.contains("--allow-actions"))
            #expect(try serve.get("/api/me", fields).object["role"] as? String == "look")
        }
        #expect(try store.status() == ["pending": 1])
    }

    @Test func `a file of tokens may come from Windows`() throws {
        let file = try tokens(newline: "\r\n")
        let serve = try ServeProcess(store, ["--token-file", file.path])
        for token in ["look-token-0123456789", "act-token-01234567890"] {
            #expect(try serve.get("/api/me", ["Authorization": "Bearer \(token)"]).status == 200, "\(token)")
        }
        let name = try serve.get("/api/me", ["Authorization": "Bearer act-token-01234567890"]).text
        #expect(name.contains(#""name":"ada""#), "\(name)")
    }

    @Test func `other machines are let in with tokens alone`() throws {
        let outcome = try store.run("serve --listen 0.0.0.0:0")
        #expect(outcome.ending == 64 && outcome.errors.contains("it needs --token-file"), "\(outcome.errors)")
        let file = try tokens()
        let hooks = try TemporaryFile(#"{"/a": {"namespace": "default", "verify": "none"}}"#)
        let open = try store.run("serve --listen 0.0.0.0:0 --token-file", [file.path, "--hooks", hooks.path])
        #expect(open.ending == 64 && open.errors.contains("the hook /a must verify its sender"), "\(open.errors)")
    }

    @Test(arguments: [
        ("submit", "the token is missing"), ("root 0123456789abcdef", "must be submit, look or act"),
        ("look short", "shorter than 16"), ("# nothing", "has no token"),
        (
            "look 0123456789abcdef\n# and\nact fedcba9876543210 ada\nact 0123456789abcdef bob\n",
            "lines 1 and 4 have the same token"
        ),
    ])
    func `a token file that is wrong says where`(_ text: String, _ reason: String) throws {
        let file = try TemporaryFile(text)
        chmod(file.path, 0o600)
        let outcome = try store.run("serve --listen 127.0.0.1:0 --token-file", [file.path])
        #expect(outcome.ending == 65 && outcome.errors.contains(reason), "\(outcome.errors)")
    }

    @Test func `a token file that others can read is refused`() throws {
        let file = try tokens()
        for mode: mode_t in [0o644, 0o604, 0o660, 0o602] {
            chmod(file.path, mode)
            let outcome = try store.run("serve --listen 127.0.0.1:0 --token-file", [file.path])
            #expect(outcome.ending == 1 && outcome.errors.contains("chmod 600"), "\(mode): \(outcome.errors)")
        }
    }

    // MARK: - Sockets

    @Test func `a socket lets its owner in, and is gone afterwards`() throws {
        let path = store.path + "/serve.sock"
        let serve = try ServeProcess(store, ["--allow-actions"], socket: path)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o007 == 0)
        #expect(try serve.get("/api/me", ["Host": "anything"]).status == 200)
        // It may be forwarded to where a browser connects, and that could be by any name of the internet.
        #expect(try serve.get("/api/me", ["Host": "evil.example"]).status == 421)
        #expect(try serve.get("/api/me").object["name"] as? String == NSUserName())
        let second = try store.run("serve --listen", ["unix:\(path)"])
        #expect(second.ending == 1 && second.errors.contains("another program listens there"))
        serve.process.signal(SIGTERM)
        _ = try serve.process.finish()
        #expect(stat(path, &status) != 0)
    }

    @Test func `a program that ends leaves the socket of the one that took its place`() throws {
        let path = store.path + "/serve.sock"
        let first = try ServeProcess(store, socket: path)
        unlink(path)
        let second = try ServeProcess(store, socket: path)
        first.process.signal(SIGTERM)
        _ = try first.process.finish()
        #expect(try second.get("/health").status == 200)
    }
}
