import Lull
import LullTesting
import TestSupport
import Testing

// The code of the page "Main actor by default". It is compiled in that mode, too, by the package LanguageModes.

nonisolated struct DocumentID: Hashable {
    var number: Int
}

@Suite("The samples of Main actor by default")
@MainActor
struct MainActorSamples {
    typealias Server = Service

    let clock = ManualClock()

    @Test
    func `a key of one's own is not isolated`() async {
        let index = Service()
        let reindex = KeyedDebouncer(for: .seconds(5), clock: clock) { (id: DocumentID, revision: Int) in
            try await index.update(id.number, to: revision)
        }
        reindex.submit(7, for: DocumentID(number: 12))
        await clock.advance(by: .seconds(5))
        #expect(await index.told == ["12 to 7"])
    }

    struct Query {
        var text: String
        var isExact = false
    }

    @MainActor
    final class SearchModel {
        private let search: Debouncer<Query, Void>

        init(screen: Screen, clock: any Clock<Duration> = ContinuousClock()) {
            search = Debouncer(for: .milliseconds(300), clock: clock) { query in
                screen.show(query.text)
            }
        }

        func typed(_ text: String) {
            search(Query(text: text))
        }
    }

    @MainActor
    final class Screen {
        private(set) var shown: [String] = []

        func show(_ text: String) { shown.append(text) }
    }

    @Test
    func `values and handlers need nothing`() async {
        let screen = Screen()
        let model = SearchModel(screen: screen, clock: clock)
        model.typed("ca")
        model.typed("cat")
        await clock.advance(by: .milliseconds(300))
        #expect(screen.shown == ["cat"])
    }

    nonisolated final class Telemetry: Sendable {
        private let upload: Debouncer<String, Void>

        init(server: Server, clock: any Clock<Duration> = ContinuousClock()) {
            upload = Debouncer(collectingFor: .seconds(5), clock: clock) { events in
                try await server.upload(events)
            }
        }

        func happened(_ event: String) {
            upload(event)
        }
    }

    @Test
    func `an object that is not isolated may be called from anywhere`() async {
        let server = Server()
        let telemetry = Telemetry(server: server, clock: clock)
        telemetry.happened("a")
        await Task.detached { telemetry.happened("b") }.value
        await clock.advance(by: .seconds(5))
        #expect(await server.told == ["a+b"])
    }

    @MainActor
    final class Preview {
        private(set) var html = ""
        private let clock: any Clock<Duration>

        private lazy var render = Debouncer(for: .milliseconds(300), clock: clock) {
            @MainActor [weak self] (markdown: String) in
            self?.html = await Preview.html(from: markdown)
        }

        init(clock: any Clock<Duration> = ContinuousClock()) {
            self.clock = clock
        }

        func typed(_ markdown: String) {
            render(markdown)
        }

        @concurrent
        private nonisolated static func html(from markdown: String) async -> String {
            "<p>\(markdown)</p>"
        }
    }

    @Test
    func `long computations leave the main actor`() async {
        let preview = Preview(clock: clock)
        preview.typed("# Lull")
        await clock.advance(by: .milliseconds(300))
        #expect(preview.html == "<p># Lull</p>")
    }
}
