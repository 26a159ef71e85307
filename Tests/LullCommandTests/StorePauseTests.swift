import CLullCommand
import Foundation
import TestSupport
import Testing

@testable import LullCommand

/// Pausing a namespace, from one process, and working in another.
@Suite("lull pause and lull resume", .ownThreads)
struct StorePauseTests {
    private let store: TestStore

    init() throws {
        store = try TestStore()
        _ = try store.run("submit --wait 1h first 1")
    }

    @Test
    func `says what it does, and can be repeated`() throws {
        #expect(try store.run("pause --reason", ["the API is down"]).output == "paused default: the API is down\n")
        let again = try store.run("pause")
        #expect(again.ending == 0)
        #expect(again.output.hasPrefix("default has been paused since 20"), "\(again.output)")
        #expect(again.output.hasSuffix(": the API is down\n"), "\(again.output)")
        #expect(try store.run("pause --reason", ["until\n15:00"]).output.hasSuffix(": until?15:00\n"))
        #expect(try store.run("resume").output == "resumed default\n")
        let resumed = try store.run("resume")
        #expect(resumed.ending == 0 && resumed.output == "default was not paused\n")
        #expect(try store.run("pause").output == "paused default\n")
    }

    @Test
    func `an empty reason and a key are refused`() throws {
        #expect(try store.run("pause --reason", [""]).ending == 64)
        #expect(try store.run("pause key").ending == 64)
    }

    @Test
    func `the status shows for how long and why`() throws {
        let before = try store.object("status --json")
        #expect(before["paused"] is NSNull && before["pausedAt"] is NSNull && before["pauseReason"] is NSNull)
        #expect(try store.run("status").lines[1].hasSuffix("  -"))
        _ = try store.run("pause --reason", ["maintenance"])
        let object = try store.object("status --json")
        let at = try #require(object["pausedAt"] as? Double)
        #expect(abs(Date().timeIntervalSince1970 - at) < 60 && object["pauseReason"] as? String == "maintenance")
        #expect((object["paused"] as? Double).map { $0 >= 0 && $0 < 60 } == true)
        let lines = try store.run("status").lines
        #expect(lines[0].hasSuffix("  paused") && lines[1].hasSuffix("s"), "\(lines)")
        #expect(lines[2].hasPrefix("default has been paused since 20"), "\(lines)")
        #expect(lines[2].hasSuffix(": maintenance"), "\(lines)")
        let metrics = try OpenMetricsText(store.run("status --format openmetrics").output)
        let paused = metrics.samples.first { $0.name == "lull_paused_seconds" }
        #expect(paused?.labels == ["namespace": "default"] && paused.map { $0.value > 0 } == true)
        let failed = try store.run("status --fail-if", ["paused>0"])
        #expect(failed.ending == 1 && failed.errors.contains("paused is"), "\(failed.errors)")
        #expect(try store.run("status --fail-if", ["paused>1h"]).ending == 0)
    }

    @Test
    func `a worker says once that it is paused and why, begins nothing, and says once that it goes on`() throws {
        _ = try store.run("pause --reason", ["the API is down"])
        let worker = try store.start("work", ["--", "sh", "-c", "echo $LULL_KEY"])
        #expect(
            try worker.errorLine() == "lull: the namespace default is paused, and nothing new begins: the API is down")
        for number in 0..<3 { _ = try store.run("submit --after 0 k\(number) 1") }
        try eventually("all are ready") { (try? store.status()["ready"]) == 3 }
        // The worker looks at them.
        for _ in 0..<10 { #expect(try store.status() == ["pending": 1, "ready": 3]) }
        #expect(try store.run("resume").output == "resumed default\n")
        #expect(Set(try (0..<3).map { _ in try worker.line() }) == ["k0", "k1", "k2"])
        worker.signal(SIGTERM)
        let outcome = try worker.finish()
        #expect(outcome.errorLines == ["lull: the namespace default is resumed"])
    }

    @Test
    func `what a worker has begun goes on during a pause`() throws {
        let gate = try Gate()
        let worker = try store.start("work --jobs 1", ["--", "sh", "-c", "echo begun; \(gate.wait); echo ended"])
        _ = try store.run("submit --after 0 a 1")
        #expect(try worker.line() == "begun")
        _ = try store.run("submit --after 0 b 1")
        _ = try store.run("pause")
        try gate.open()
        #expect(try worker.line() == "ended")
        #expect(try worker.errorLine() == "lull: the namespace default is paused, and nothing new begins")
        #expect(try store.status() == ["pending": 1, "ready": 1])
        _ = try store.run("resume")
        #expect(try worker.line() == "begun")
        worker.signal(SIGTERM)
        _ = try worker.finish()
    }
}
