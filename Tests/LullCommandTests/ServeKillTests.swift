import CLullCommand
import Foundation
import Lull
import TestSupport
import Testing

@testable import LullCommand

/// `lull serve` is killed under load, again and again: what it has acknowledged is in the store, once.
///
/// `LULL_KILLS` sets the number of kills for each store.
@Suite("lull serve under kills", .ownThreads, .serialized, .enabled(if: ServeProcess.isInstalled))
struct ServeKillTests {
    private let kills = ProcessInfo.processInfo.environment["LULL_KILLS"].flatMap { Int($0) } ?? 3
    private static let clients = 16

    /// What the clients have seen.
    private struct Seen: Sendable {
        var acknowledged: Set<String> = []
        /// Those of which the client stopped asking what became of them.
        var open: Set<String> = []
        var lostAnswers = 0
    }

    @Test(arguments: [TestStore.Kind.file] + TestStore.Kind.servers)
    func `nothing that was acknowledged is lost, and nothing counts twice`(_ kind: TestStore.Kind) throws {
        let store = try TestStore(kind)
        _ = try store.run("submit --wait 1h --combine collect key-0 first")
        var serve: ServeProcess? = try ServeProcess(store)
        let port = try #require(serve?.port)
        let (seen, isOver) = (Guarded(Seen()), Guarded(false))
        let group = DispatchGroup()
        for client in 0..<Self.clients {
            Thread.detachNewThread(in: group) { Self.submit(as: client, at: port, seen, until: isOver) }
        }
        var count = 0
        for _ in 0..<kills {
            // Some work between two kills, and each at another moment of it.
            let goal = seen.value.acknowledged.count + Int.random(in: 50...400)
            try eventually("more is acknowledged") { seen.value.acknowledged.count >= goal }
            serve?.process.signal(SIGKILL)
            _ = try serve?.process.end()
            count += 1
            serve = try ServeProcess(store, port: port)
        }
        isOver.change { $0 = true }
        group.wait()
        serve = nil
        #expect(try store.run("flush").ending == 0)
        let output = try TemporaryFile()
        let worker = try store.start("work --jobs 1 -- sh -c", [#"cat >> "$0""#, output.path])
        try eventually("all is done") { (try? store.status()) == [:] }
        worker.signal(SIGTERM)
        _ = try worker.finish()
        let found = Dictionary(output.text.split(separator: "\n").map { (String($0), 1) }, uniquingKeysWith: +)
        let all = seen.value
        #expect(all.acknowledged.subtracting(found.keys) == [], "acknowledged and lost")
        #expect(found.filter { $0.value > 1 }.isEmpty, "counted twice")
        #expect(Set(found.keys).subtracting(all.acknowledged).subtracting(all.open) == ["first"], "never submitted")
        print(
            "\(kind): \(count) kills, \(all.acknowledged.count) acknowledged, \(all.lostAnswers) answers lost, 0 lost")
    }

    /// Submits one value after the other, each until it is acknowledged.
    private static func submit(
        as client: Int, at port: UInt16, _ seen: Guarded<Seen>, until isOver: Guarded<Bool>
    ) {
        var (number, connection) = (0, RawConnection?.none)
        while !isOver.value {
            number += 1
            let value = "\(client)-\(number)"
            seen.change { _ = $0.open.insert(value) }
            while !isOver.value {
                try? blockUntil {
                    if connection == nil { connection = try? RawConnection(port: port, path: nil) }
                    return connection != nil || isOver.value
                }
                guard let current = connection else { continue }
                current.send(
                    "POST /v1/default/key-\(number % 20) HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: \(value)\r\n"
                        + "Content-Length: \(value.utf8.count)\r\n\r\n\(value)")
                guard let answer = current.read(until: "}\n") else {
                    seen.change { $0.lostAnswers += 1 }
                    connection = nil
                    continue
                }
                guard answer.hasPrefix("HTTP/1.1 202 ") else { continue }
                seen.change { seen in
                    seen.open.remove(value)
                    seen.acknowledged.insert(value)
                }
                break
            }
        }
    }
}

extension Thread {
    /// Runs a function in a thread of its own, which a group counts.
    fileprivate static func detachNewThread(in group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
        group.enter()
        detachNewThread {
            body()
            group.leave()
        }
    }
}
