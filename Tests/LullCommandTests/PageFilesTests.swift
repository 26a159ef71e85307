import Foundation
import LullHTTP
import TestSupport
import Testing

@testable import LullCommand

/// The files of the pages of `lull serve` and `lull top`, as they are served.
@Suite("The files of the pages", .ownThreads, .enabled(if: ServeProcess.isInstalled))
struct PageFilesTests {
    /// Gets a page, and all that it names, without a token; and checks that nothing else is there for it.
    private func check(_ page: HTTPPage, of serve: ServeProcess, written folders: [String]) throws {
        let first = try serve.get("/")
        let policy = try #require(first.fields["content-security-policy"])
        #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self'; "))
        let named = first.text.matches(of: /(?:<script src|rel="stylesheet" href)="([^"]+)"/).map { String($0.1) }
        #expect(named.count > 10 && Set(named.map { "/\($0)" } + ["/"]) == Set(page.answers.keys))
        var size = 0
        for name in ["index.html"] + named {
            let path = name == "index.html" ? "/" : "/\(name)"
            let answer = try serve.get(path)
            let types = [".js": "text/javascript", ".css": "text/css", "html": "text/html"]
            let type = types.first { name.hasSuffix($0.key) }?.value ?? ""
            #expect(answer.status == 200 && answer.fields["content-type"] == "\(type); charset=utf-8", "\(path)")
            // A new command never mixes with the files of an old one.
            #expect(answer.fields["cache-control"] == "no-cache", "\(path)")
            #expect(answer.fields["x-content-type-options"] == "nosniff", "\(path)")
            let sources = folders.map { folder in
                ArticleCode.root.appending(path: folder).appending(path: name.replacing("page/", with: ""))
            }
            let source = try #require(sources.first { FileManager.default.fileExists(atPath: $0.path) })
            #expect(answer.body == Array(try Data(contentsOf: source)), "\(path)")
            #expect(try serve.request("HEAD", path).status == 200, "\(path)")
            #expect(try serve.post(path, "").status == 405, "\(path)")
            #expect(try serve.get(path, ["Sec-Fetch-Site": "cross-site"]).status == 403, "\(path)")
            #expect(try serve.get("\(path)?token=abcdefghijklmnopq").status == 400, "\(path)")
            size += answer.body.count
        }
        // One photograph has more.
        #expect(size < 190_000)
        for path in ["/page/", "/page/index.html", "/page/../page/main.js", "/main.js", "/page/main.js/"] {
            #expect(try serve.get(path).status == 404, "\(path)")
        }
    }

    @Test func `the page of lull serve has its files, as they are written, and no other`() throws {
        let file = try TemporaryFile("look look-token-0123456789\n")
        chmod(file.path, 0o600)
        let store = try TestStore(.file)
        _ = try store.run("submit --wait 1h a 1")
        let serve = try ServeProcess(store, ["--token-file", file.path])
        try check(.serve, of: serve, written: ["Web/Serve", "Web/Shared"])
        // What is not of the page is for those with a token, and for no browser to run.
        let answer = try serve.get("/api/me")
        #expect(answer.status == 401 && answer.fields["x-content-type-options"] == "nosniff")
    }

    @Test func `the page of lull top has its files, as they are written, and no other`() throws {
        let socket = ProgramSocket()
        let program = try socket.startProgram()
        try check(
            .top, of: try ServeProcess(topOf: socket.path), written: ["Web/Top", "Web/Shared"])
        withExtendedLifetime(program) {}
    }
}
