import Lull
import LullDurable
import LullTesting
import Testing

/// What the page on finishing the sync says of an app that is killed while it sends: it takes calls of the store that
/// are not public, so it is not among the samples, which are compiled as users' code.
@Suite("An app that is killed while it sends")
struct SendingAgainTests {
    let clock = ManualClock()
    let server = Server()
    let note = Note(id: "a", text: "b")

    @Test
    func `a change that was being sent when the app was killed is sent again, and the server drops it`() async throws {
        let store = MemoryStore(clock: clock)
        let first = try await NoteSync(store: store, server: server, clock: clock)
        try await first.edited(note)
        await clock.advance(by: .seconds(2))
        // The first start's last act: it sends the note, and is killed before it reports that to the store.
        let claim = DurableClaim(
            namespace: "notes", terms: .init(owner: 1, lease: .seconds(30), maxAttempts: 20), limit: 1)
        let run = try #require(try await store.claim(claim).runs.first)
        try await server.put(note, named: run.id)

        let second = try await NoteSync(store: store, server: server, clock: clock)
        let worker = clock.task { try await second.work() }
        await clock.advance(by: .seconds(29))
        #expect(await server.requests.count == 1)
        await clock.advance(by: .seconds(1))
        #expect(await server.requests == [run.id, run.id])
        #expect(await server.notes == [note])
        worker.cancel()
        try await worker.value
    }
}
