import Foundation
import TestSupport
import Testing

/// Many processes that write to one file at once.
@Suite("A crowd of writers of a store", .ownThreads, .serialized)
struct StoreCrowdTests {
    private let store: TestStore

    init() throws {
        store = try TestStore(.file)
    }

    private func start(_ number: Int, _ options: String = "") throws -> ToolProcess {
        try ToolProcess(
            ["submit"] + store.option + options.split(separator: " ").map(String.init) + ["key-\(number)", "value"],
            input: .file("/dev/null", O_RDONLY), output: .file("/dev/null", O_WRONLY))
    }

    @Test func `a hundred submits at once are recorded`() throws {
        #expect(try store.run("submit --wait 1h key-0 value").ending == 0)
        // On a busy machine starting so many takes longer than the usual patience.
        let processes = try (1...100).map { try start($0, "--patience 60s") }
        for process in processes {
            let outcome = try process.finish()
            #expect(outcome.ending == 0, "\(outcome.errors)")
        }
        #expect(try store.status() == ["pending": 101])
    }

    @Test func `a writer that is killed while it waits holds up no other`() throws {
        #expect(try store.run("submit --wait 1h key-0 value").ending == 0)
        let processes = try (1...60).map { try start($0, "--patience 60s") }
        for process in processes[..<40] where Bool.random() { process.signal(SIGKILL) }
        for process in processes[40...] {
            let outcome = try process.finish()
            #expect(outcome.ending == 0, "\(outcome.errors)")
        }
        #expect(try store.status()["pending"] ?? 0 >= 21)
    }

    @Test func `patience says how long to wait`() throws {
        #expect(try store.run("submit --wait 1h key-0 value").ending == 0)
        // Holds the lock of the next writer.
        let descriptor = open(store.path + "/store.db-write", O_RDWR)
        defer { close(descriptor) }
        #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        let outcome = try start(1, "--patience 100ms").finish()
        #expect(outcome.ending == 74)
        #expect(outcome.errors.contains("store.db is locked by another process for too long"))
        let patient = try start(1, "--patience 60s")
        flock(descriptor, LOCK_UN)
        #expect(try patient.finish().ending == 0)
        #expect(try lull("filter", "--wait", "1s", "--patience", "1s").ending == 64)
    }
}
