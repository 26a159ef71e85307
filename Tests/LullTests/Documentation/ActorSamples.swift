import Lull
import LullTesting
import Observation
import TestSupport
import Testing

// The code of the page "Actors that own a debouncer", and what it claims.

@Suite("The samples of Actors that own a debouncer")
struct ActorSamples {
    typealias Server = Service

    let clock = ManualClock()

    @MainActor
    @Observable
    final class Editor {
        private(set) var status = "saved"
        private let store: Store
        private let clock: any Clock<Duration>

        @ObservationIgnored
        private lazy var save = Debouncer(for: .seconds(2), clock: clock) {
            @MainActor [store, weak self] (draft: Draft) in
            try await store.save(draft)
            self?.status = "saved"
        }

        init(store: Store, clock: any Clock<Duration> = ContinuousClock()) {
            self.store = store
            self.clock = clock
        }

        func edited(_ draft: Draft) {
            status = "edited"
            save(draft)
        }

        func close() async {
            await save.shutDownAndWait()
        }
    }

    @Test
    @MainActor
    func `a model of a view`() async {
        let store = Store()
        let editor = Editor(store: store, clock: clock)
        editor.edited(Draft("a"))
        #expect(editor.status == "edited")
        await clock.advance(by: .seconds(2))
        #expect(editor.status == "saved")
        editor.edited(Draft("ab"))
        await editor.close()
        #expect(await store.drafts == [Draft("a"), Draft("ab")])
        editor.edited(Draft("abc"))
        await clock.advance(by: .seconds(2))
        #expect(await store.drafts.count == 2)
    }

    @Test
    @MainActor
    func `a pending value is saved when the model is released, and does not keep it alive`() async {
        let store = Store()
        weak var gone: Editor?
        do {
            let editor = Editor(store: store, clock: clock)
            gone = editor
            editor.edited(Draft("a"))
        }
        #expect(gone == nil)
        await clock.advance(by: .seconds(2))
        #expect(await store.drafts == [Draft("a")])
    }

    actor Uploader {
        private(set) var sent = 0
        private let server: Server
        private let clock: any Clock<Duration>

        private lazy var upload = Debouncer(collectingFor: .seconds(5), clock: clock) {
            [server, weak self] (events: [String]) in
            try await server.upload(events)
            await self?.note(events)
        }

        init(server: Server, clock: any Clock<Duration> = ContinuousClock()) {
            self.server = server
            self.clock = clock
        }

        func add(_ event: String) {
            upload(event)
        }

        func close() async {
            await upload.shutDownAndWait()
        }

        private func note(_ events: [String]) {
            sent += events.count
        }
    }

    @Test
    func `an actor`() async {
        let server = Server()
        let uploader = Uploader(server: server, clock: clock)
        await uploader.add("a")
        await uploader.add("b")
        await clock.advance(by: .seconds(5))
        #expect(await server.told == ["a+b"])
        #expect(await uploader.sent == 2)
        await uploader.add("c")
        await uploader.close()
        #expect(await server.told == ["a+b", "c"])
        #expect(await uploader.sent == 3)
    }

    @Test
    func `a pending value is sent when the actor is released, and does not keep it alive`() async throws {
        let server = Server()
        weak var gone: Uploader?
        do {
            let uploader = Uploader(server: server, clock: clock)
            gone = uploader
            await uploader.add("a")
        }
        try await waitUntil { gone == nil }
        #expect(gone == nil)
        await clock.advance(by: .seconds(5))
        #expect(await server.told == ["a"])
    }

    actor Telemetry {
        private nonisolated let upload: Debouncer<String, Void>

        init(server: Server, clock: any Clock<Duration> = ContinuousClock()) {
            upload = Debouncer(collectingFor: .seconds(5), clock: clock) { events in
                try await server.upload(events)
            }
        }

        nonisolated func happened(_ event: String) {
            upload(event)
        }
    }

    @Test
    func `an actor that takes submits without an await`() async {
        let server = Server()
        let telemetry = Telemetry(server: server, clock: clock)
        for event in ["a", "b", "c"] { telemetry.happened(event) }
        await clock.advance(by: .seconds(5))
        #expect(await server.told == ["a+b+c"])
    }

    actor Journal {
        private(set) var lines: [String] = []
        private let clock: any Clock<Duration>
        private var write: Debouncer<String, Void>?

        init(clock: any Clock<Duration> = ContinuousClock()) {
            self.clock = clock
        }

        func start() {
            write = Debouncer(for: .seconds(1), clock: clock) { line in
                self.lines.append(line)
            }
        }

        func note(_ line: String) {
            write?(line)
        }

        func stop() async {
            await write?.shutDownAndWait()
            write = nil
        }
    }

    @Test
    func `an actor on which the handler runs, and which is released after a stop`() async throws {
        weak var gone: Journal?
        do {
            let journal = Journal(clock: clock)
            gone = journal
            await journal.start()
            await journal.note("a")
            await clock.advance(by: .seconds(1))
            #expect(await journal.lines == ["a"])
            await journal.note("b")
            await journal.stop()
            #expect(await journal.lines == ["a", "b"])
        }
        try await waitUntil { gone == nil }
        #expect(gone == nil)
    }
}
