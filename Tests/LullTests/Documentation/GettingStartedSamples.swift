import Dispatch
import Lull
import LullDispatch
import LullTesting
import TestSupport
import Testing

// The code of the article "Getting started", of the landing page, and of the documentation of the four types. Where a
// sample has no clock of its own, the clock of the test has been added.

@Suite("The samples of Getting started")
struct GettingStartedSamples {
    let clock = ManualClock()

    @Test
    func `the landing page: save and flush`() async {
        let api = Store()
        let draft = Draft("a")

        let save = Debouncer(for: .seconds(2), clock: clock) { (draft: Draft) in try await api.save(draft) }

        save(draft)
        await save.flushAndWait()
        #expect(await api.drafts == [draft])
    }

    @Test
    func `the landing page: keys`() async {
        let hub = Service()
        typealias DeviceID = String
        let lamp: DeviceID = "lamp"

        let levels = KeyedDebouncer(for: .seconds(2), clock: clock) { (device: DeviceID, level: Int) in
            try await hub.set(level, on: device)
        }
        levels.submit(7, for: lamp)
        levels.submit(8, for: lamp, after: .seconds(5))
        await clock.advance(by: .seconds(5))
        #expect(await hub.told == ["lamp=8"])
    }

    @Test
    func `a throttler, with keys and without`() async {
        typealias Position = Int
        let (server, store, position) = (Service(), Service(), 7)

        let report = Throttler(every: .seconds(1), clock: clock) { (position: Position) in
            try await server.report(position)
        }
        report(position)

        let sync = KeyedThrottler(every: .seconds(120), clock: clock) { (category: Category, _: Void) in
            try await store.sync(category)
        }
        sync.submit((), for: .steps)
        await clock.advance(by: .zero)
        #expect(await server.told + store.told == ["at 7", "sync steps"])
    }

    @Test
    func `save when the typing stops`() async {
        let store = Store()
        let draft = Draft("a")
        let save = Debouncer(for: .seconds(2), maxWait: .seconds(30), clock: clock) { (draft: Draft) in
            try await store.save(draft)
        }

        save(draft)
        await clock.advance(by: .seconds(2))
        #expect(await store.drafts == [draft])
    }

    @MainActor
    final class Editor {
        private let store: Store
        private(set) var status = "saved"

        private lazy var save = Debouncer(for: .seconds(2), maxWait: .seconds(30)) {
            @MainActor [store, weak self] (draft: Draft) in
            try await store.save(draft)
            self?.status = "saved"
        }

        init(store: Store) {
            self.store = store
        }

        func edited(_ draft: Draft) {
            status = "edited"
            save(draft)
        }

        func leave() async {
            await save.flushAndWait()
        }
    }

    @Test
    @MainActor
    func `a view model that saves`() async {
        let store = Store()
        let editor = Editor(store: store)
        editor.edited(Draft("a"))
        editor.edited(Draft("ab"))
        #expect(editor.status == "edited")
        await editor.leave()
        #expect(editor.status == "saved")
        #expect(await store.drafts == [Draft("ab")])
    }

    @MainActor
    final class Search {
        private let index: Index
        private(set) var hits: [String] = []

        private lazy var search = Debouncer(for: .milliseconds(300), whileRunning: .cancelRunning) {
            @MainActor [weak self] (query: String) in
            guard let self else { return }
            hits = try await index.find(query)
        }

        init(index: Index) {
            self.index = index
        }

        func typed(_ query: String) {
            search(query)
        }
    }

    @Test
    @MainActor
    func `a view model that searches`() async {
        let search = Search(index: Index())
        search.typed("ca")
        search.typed("cat")
        await search.finish()
        #expect(search.hits == ["cat"])
    }

    @Test
    func `a knob, and something without a value`() async {
        let (speaker, view) = (Service(), Service())

        let volume = Throttler(every: .milliseconds(50), clock: clock) { (level: Double) in await speaker.set(level) }

        volume(0.3)
        for level in [0.1, 0.2] { volume(level) }
        await clock.advance(by: .milliseconds(50))
        #expect(await speaker.told == ["0.3", "0.2"])

        let refresh = Debouncer(for: .seconds(1), clock: clock) { await view.reload() }

        refresh()
        await clock.advance(by: .seconds(1))
        #expect(await view.told == ["reload"])
    }

    @Test
    @MainActor
    func `a value that settles`() async {
        var printed: [String] = []
        func print(_ text: String) { printed.append(text) }

        let text = DebouncedValue("", for: .milliseconds(300), clock: clock)

        text.value = "# Lull"
        print(text.settled)
        #expect(printed == [""])
        await clock.advance(by: .milliseconds(300))
        #expect(text.settled == "# Lull")
    }

    @Test
    func `a queue`() async {
        let (file, queue) = (File(), DispatchQueue(label: "files"))
        let write = Debouncer(for: .seconds(1), on: queue, clock: clock) { (text: String) in try file.write(text) }
        write("a")
        await clock.advance(by: .seconds(1))
        #expect(file.texts.all == ["a"])
    }

    nonisolated struct DocumentID: Hashable {
        var number: Int
    }

    @Test
    func `many keys`() async {
        let (index, log, document) = (Service(), Log(), DocumentID(number: 12))
        let reindex = KeyedDebouncer(
            for: .seconds(5), maxWait: .seconds(60), options: .init(maxConcurrent: 4, capacity: 10_000), clock: clock,
            onFailure: { error, id in log.error("document \(id.number) was not indexed: \(error)") }
        ) { (id: DocumentID, revision: Int) in
            try await index.update(id.number, to: revision)
        }

        reindex.submit(7, for: document)
        reindex.submit(8, for: document, after: .milliseconds(500))
        reindex.flush(document)

        reindex.submit(-1, for: DocumentID(number: 13))
        await reindex.shutDownAndWait()
        await clock.advance(by: .zero)
        #expect(await index.told == ["12 to 8"])
        #expect(log.lines.all.count == 1)
    }
}

extension GettingStartedSamples.Search {
    fileprivate func finish() async {
        await search.flushAndWait()
    }
}
