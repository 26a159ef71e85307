import CLullSockets
import Foundation
import Lull
import TestSupport
import Testing

@testable import LullInspection

@Suite("The socket of a program that can be looked into")
struct ServerTests {
    private func mode(_ path: String) throws -> mode_t {
        var status = stat()
        #expect(lstat(path, &status) == 0)
        return status.st_mode
    }

    private func refusal(_ path: String) -> String? {
        do {
            try InspectionServer(at: path).stop()
            return nil
        } catch {
            #expect(error.path == path)
            #expect(error.description == "\(path): \(error.reason)")
            return error.reason
        }
    }

    // MARK: - The path

    @Test func `is its owner's alone, whatever the umask is, and goes with the server`() throws {
        let path = try socketPath()
        let server = try InspectionServer(at: path)
        #expect(try mode(path) == S_IFSOCK | 0o600)
        server.stop()
        #expect(access(path, F_OK) != 0)
    }

    @Test func `takes the place of one that an ended program has left`() throws {
        let path = try socketPath()
        var why = [CChar](repeating: 0, count: 256)
        let left = lull_socket_listen(path, &why, why.count)
        #expect(left >= 0)
        #expect(refusal(path) == "another program listens there")
        lull_socket_close(left)
        #expect(refusal(path) == nil)
    }

    @Test func `takes the place of nothing else`() throws {
        let path = try socketPath()
        let server = try InspectionServer(at: path)
        defer { server.stop() }
        #expect(refusal(path) == "another program listens there")
        let link = try socketPath()
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        #expect(refusal(link) == "it is a symbolic link, which may lead anywhere")
        let nowhere = try socketPath()
        try FileManager.default.createSymbolicLink(atPath: nowhere, withDestinationPath: "/nowhere/at/all")
        #expect(refusal(nowhere) == "it is a symbolic link, which may lead anywhere")
        let file = try socketPath()
        try Data("text".utf8).write(to: URL(fileURLWithPath: file))
        #expect(refusal(file) == "there is a file that is no socket")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "text")
        #expect(refusal("/nowhere/at/all")?.hasPrefix("it cannot be listened at: ") == true)
        #expect(refusal(path + String(repeating: "x", count: 200))?.hasPrefix("the path has more than ") == true)
        #expect(refusal("/tmp/a\0b") == "the path contains a NUL byte")
    }

    @Test(.enabled(if: geteuid() == 0, "only root can make a socket of another user"))
    func `refuses the socket of another user`() throws {
        let path = try socketPath()
        var why = [CChar](repeating: 0, count: 256)
        lull_socket_close(lull_socket_listen(path, &why, why.count))
        #expect(chown(path, 12345, 12345) == 0)
        #expect(refusal(path) == "there is a socket of another user")
        unlink(path)
    }

    @Test func `leaves the socket that another program has put at the path`() throws {
        let path = try socketPath()
        let server = try InspectionServer(at: path)
        unlink(path)
        let other = try InspectionServer(at: path)
        server.stop()
        #expect(try Looker(path).snapshot().number("lull") == 1)
        other.stop()
    }

    // MARK: - Readers

    @Test func `every reader gets a snapshot at once, and then four a second`() throws {
        let path = try socketPath()
        let server = try InspectionServer(at: path)
        defer { server.stop() }
        let readers = try (0..<3).map { _ in try Looker(path) }
        for reader in readers {
            let times = try (0..<3).map { _ in try #require(reader.snapshot().seconds("time")) }
            for (one, next) in zip(times, times.dropFirst()) { #expect(next - one >= 0.25) }
        }
    }

    @Test func `all connections end with the server`() throws {
        let path = try socketPath()
        let server = try InspectionServer(at: path)
        let reader = try Looker(path)
        _ = try reader.snapshot()
        server.stop()
        while try reader.next() != nil {}
    }

    @Test func `a ninth reader is told why it gets nothing, and comes in when another has gone`() throws {
        let path = try socketPath()
        let server = try InspectionServer(at: path)
        defer { server.stop() }
        var readers = try (0..<InspectionServer.readerLimit).map { _ in try Looker(path) }
        for reader in readers { _ = try reader.snapshot() }
        let ninth = try Looker(path)
        let answer = try ninth.snapshot()
        #expect(answer.text("refused") == "8 others look into the program already")
        #expect(answer.number("lull") == 1)
        #expect(try ninth.next() == nil)
        readers.removeLast()
        // The server learns of it when it next has something to send, at the latest.
        while try Looker(path).snapshot().text("refused") != nil {}
    }

    @Test(arguments: ["x", "GET / HTTP/1.1\r\n\r\n", "{\"lull\":1}\n", String(repeating: "\u{FF}\0", count: 100_000)])
    func `a reader that sends anything is sent away, and the others stay`(_ bytes: String) throws {
        let path = try socketPath()
        let server = try InspectionServer(at: path)
        defer { server.stop() }
        let (good, hostile) = (try Looker(path), try Looker(path))
        _ = try good.snapshot()
        hostile.send(bytes)
        while try hostile.next() != nil {}
        _ = try good.snapshot()
        _ = try good.snapshot()
    }

    @Test func `a reader that has nothing to send may say so, and goes on reading`() throws {
        let path = try socketPath()
        let server = try InspectionServer(at: path)
        defer { server.stop() }
        let reader = try Looker(path)
        reader.endSending()
        for _ in 0..<4 { #expect(try reader.snapshot().number("lull") == 1) }
    }

    @Test func `those that connect and leave at once do no harm`() throws {
        let path = try socketPath()
        let server = try InspectionServer(at: path)
        defer { server.stop() }
        // A full queue refuses, which is no harm either.
        for _ in 0..<2000 { _ = try? Looker(path) }
        while (try? Looker(path).snapshot().number("process")) ?? nil == nil {}
    }

    /// More than a socket holds is in each snapshot, so that what a slow reader gets shows what was kept for it.
    @Test func `a reader that does not read delays nobody, and then gets the newest`() throws {
        RuntimeRegistry.begin()
        let debouncers = (0..<800).map { _ in Debouncer(for: .seconds(3600)) { (_: Int) in } }
        let line: UInt = #line + 1
        let hot = Debouncer(for: .seconds(3600)) { (_: Int) in }
        let site = "LullInspectionTests/ServerTests.swift:\(line)"
        let path = try socketPath()
        let server = try InspectionServer(at: path)
        defer { server.stop() }
        let slow = try (0..<4).map { _ in try Looker(path) }
        let fast = try Looker(path)
        for number in 0..<1_000_000 { hot(number) }
        var snapshot = try fast.snapshot()
        while snapshot.rows(madeAt: site).first?.number("submitted") != 1_000_000 { snapshot = try fast.snapshot() }
        for _ in 0..<4 { snapshot = try fast.snapshot() }
        let newest = try #require(snapshot.seconds("time"))
        for reader in slow {
            // What the socket held, the rest of what was being sent, and then the present.
            var count = 0
            while try #require(reader.snapshot().seconds("time")) < newest { count += 1 }
            #expect(count <= 3)
        }
        hot.cancel()
        withExtendedLifetime(debouncers) {}
    }
}

@Suite("The inspector of a program", .serialized)
struct InspectorTests {
    @Test func `is started, moved and stopped`() throws {
        let (one, other) = (try socketPath(), try socketPath())
        Inspector.stop()
        try Inspector.start(at: one)
        #expect(try Looker(one).snapshot().number("process") == Int(getpid()))
        try Inspector.start(at: other)
        #expect(access(one, F_OK) != 0)
        #expect(try Looker(other).snapshot().number("process") == Int(getpid()))
        #expect(throws: Inspector.Unavailable.self) { try Inspector.start(at: "/nowhere/at/all") }
        Inspector.stop()
        Inspector.stop()
        #expect(access(other, F_OK) != 0)
    }

    @Test func `a program that is asked to shows what it made before, too, as soon as that waits`() throws {
        let path = try socketPath()
        let child = try Child(named: "InspectionChild", environment: ["LULL_INSPECT": path])
        defer { child.kill() }
        var reader = try? Looker(path)
        while reader == nil { reader = try? Looker(path) }
        var all: [[String: Any]] = []
        while all.count < 3 { all = try #require(reader?.snapshot()["debouncers"] as? [[String: Any]]) }
        #expect(
            Set(all.compactMap { $0.text("policy") }) == [
                "--wait 1h", "--wait 10ms --max-wait 1m", "--throttle 1h --edges trailing",
            ])
        // What it leaves behind is replaced by the next one.
        child.kill()
        #expect(access(path, F_OK) == 0)
        let next = try Child(named: "InspectionChild", environment: ["LULL_INSPECT": path])
        defer { next.kill() }
        reader = try? Looker(path)
        while reader == nil { reader = try? Looker(path) }
        _ = try reader?.snapshot()
    }

    /// The stores of the durable child start threads and open sockets as well, but nothing in it names the inspector.
    @Test func `a program that does not link it has nothing of it`() throws {
        func mentions(_ program: String) throws -> Bool {
            try Data(contentsOf: URL(fileURLWithPath: Products.path(of: program)), options: .alwaysMapped)
                .range(of: Data("14LullInspection".utf8)) != nil
        }
        #expect(try mentions("InspectionChild"))
        #expect(try !mentions("DurableChild"))
    }
}
