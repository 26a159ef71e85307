import CLullCommand
import Foundation
import TestSupport
import Testing

/// The metrics come from the file, whichever process did the work.
@Suite("lull status --format openmetrics", .ownThreads)
struct StoreMetricsTests {
    private let store: TestStore

    init() throws {
        store = try TestStore()
    }

    private func metrics() throws -> OpenMetricsText {
        let outcome = try store.run("status --format openmetrics")
        #expect(outcome.ending == 0)
        return try OpenMetricsText(outcome.output)
    }

    private func value(_ name: String, _ labels: [String: String] = [:]) throws -> Double? {
        let labels = labels.merging(["namespace": "default"]) { $1 }
        return try metrics().samples.first { $0.name == name && $0.labels == labels }?.value
    }

    @Test func `every state is counted`() throws {
        _ = try store.run(
            "run --wait 0 --attempts 1 --key-field 1 --at-end flush", ["--", "false"], input: "a\nb\n")
        _ = try store.run("run --key-field 1 --at-end flush", ["--", "false"], input: "c\n")
        _ = try store.run("submit --after 1h d 1")
        _ = try store.run("submit e 1")
        #expect(try value("lull_keys", ["state": "pending"]) == 1)
        #expect(try value("lull_keys", ["state": "ready"]) == 1)
        #expect(try value("lull_keys", ["state": "running"]) == 0)
        #expect(try value("lull_keys", ["state": "retrying"]) == 1)
        #expect(try value("lull_dead_runs") == 2)
        #expect(try value("lull_oldest_due_seconds") ?? 0 > 0)
        #expect(
            try metrics().families.map { "\($0.name) \($0.type)" } == [
                "lull_keys gauge", "lull_dead_runs gauge", "lull_oldest_due_seconds gauge", "lull_paused_seconds gauge",
                "lull_pause_ends_seconds gauge", "lull_limited_keys gauge", "lull_next_start_seconds gauge",
                "lull_entries gauge",
                "lull_oldest_entry_seconds gauge", "lull_attempts_total unknown", "lull_lost_leases_total unknown",
                "lull_runs_total unknown", "lull_executed_total unknown",
                "lull_failures_total unknown", "lull_restarts_total unknown",
                "lull_snoozes_total unknown", "lull_given_up_total unknown", "lull_overdue_total unknown",
            ])
    }

    @Test func `names of namespaces are escaped`() throws {
        let names = [
            "a\"b", "c\\d", "e\nf", "g{h=\"i\"} 1", "é",
            "a newline that is hidden\r\nin a character", "\"\u{301} \\\u{301}",
        ]
        for name in names { _ = try store.run("submit --wait 1h --namespace", [name, "k", "v"]) }
        let found = Set(try metrics().samples.compactMap { $0.labels["namespace"] })
        #expect(found == Set(names))
    }

    @Test func `attempts of all processes are counted`() throws {
        _ = try store.run("submit --wait 0 k 1")
        #expect(try value("lull_attempts_total") == 0)
        for _ in 0..<3 {
            _ = try store.run("flush")
            _ = try store.run("run", ["--", "false"])
        }
        #expect(try value("lull_attempts_total") == 3)
        #expect(try value("lull_lost_leases_total") == 0)
        #expect(
            try [value("lull_runs_total"), value("lull_executed_total"), value("lull_failures_total")] == [1, 1, 3])
        #expect(try store.object("status --json")["attempts"] as? Int == 3)
    }

    @Test func `a lease is lost when another process takes the run over`() throws {
        let gate = try Gate()
        let first = try store.start("run --wait 0 --lease 1s", ["--", "sh", "-c", "echo begun; \(gate.wait)"])
        first.send("a\n")
        #expect(try first.line() == "begun")
        first.signal(SIGKILL)
        _ = try first.end()
        let second = try store.start("work", ["--", "sh", "-c", "echo $LULL_ATTEMPT"])
        #expect(try second.line() == "2")
        second.signal(SIGTERM)
        _ = try second.finish()
        try gate.open()
        #expect(try value("lull_lost_leases_total") == 1)
        #expect(try value("lull_attempts_total") == 2)
        #expect(try store.object("status --json")["lostLeases"] as? Int == 1)
    }
}
