import Foundation
import Lull
import LullDurable
import LullSQLite
import LullTesting
import TestSupport
import Testing

struct NoteSync: Sendable {
    private let sync: DurableDebouncer<String, Note>
    private let server: Server

    init(store: any DurableStore, server: Server, clock: any Clock<Duration> = ContinuousClock()) async throws {
        sync = try await DurableDebouncer(
            for: .seconds(2), maxWait: .seconds(30), namespace: "notes", in: store, clock: clock)
        self.server = server
    }

    /// Returns when the change has been recorded.
    func edited(_ note: Note) async throws {
        try await sync.submit(note, for: note.id)
    }

    /// Sends what is pending now, if there is time: call it when the app leaves the foreground.
    func leave() async throws {
        try await sync.flush()
    }

    /// Runs as long as the app does.
    func work() async throws {
        try await sync.run(maxConcurrent: 2, grace: .seconds(5)) { execution in
            try await server.put(execution.value, named: execution.runID)
        }
    }
}

@Suite("The samples of the page on finishing the sync")
struct SyncSamples {
    let clock = ManualClock()
    let server = Server()
    let note = Note(id: "a", text: "b")

    @Test
    func `the start of the app`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = server
        do {
            let store = try await SQLiteStore(path: folder.appending(path: "notes.lull").path)
            try await NoteSync(store: store, server: server).edited(note)
            await store.close()
        }
        let store = try await SQLiteStore(path: folder.appending(path: "notes.lull").path)
        let notes = try await NoteSync(store: store, server: server)
        let worker = Task { try await notes.work() }
        try await notes.leave()
        try await waitUntil { await !server.notes.isEmpty }
        #expect(await server.notes == [note])
        worker.cancel()
        try await worker.value
        await store.close()
    }

    @Test
    func `a change that was recorded before the app was killed is sent at its next start, once`() async throws {
        let store = MemoryStore(clock: clock)
        let first = try await NoteSync(store: store, server: server, clock: clock)
        try await first.edited(Note(id: "a", text: "b"))
        try await first.edited(note)
        // Killed. An hour later:
        await clock.advance(by: .seconds(3600))
        let second = try await NoteSync(store: store, server: server, clock: clock)
        let worker = clock.task { try await second.work() }
        await clock.advance(by: .zero)
        #expect(await server.notes == [note])
        worker.cancel()
        try await worker.value
    }

    @Test
    func `what waits for the network is sent when the app leaves the foreground with a network`() async throws {
        let store = MemoryStore(clock: clock)
        let notes = try await NoteSync(store: store, server: server, clock: clock)
        let worker = clock.task { try await notes.work() }
        await server.goDown(true)
        try await notes.edited(note)
        await clock.advance(by: .seconds(600))
        #expect(await server.notes.isEmpty)
        await server.goDown(false)
        try await notes.leave()
        await clock.advance(by: .zero)
        #expect(await server.notes == [note])
        worker.cancel()
        try await worker.value
    }
}
