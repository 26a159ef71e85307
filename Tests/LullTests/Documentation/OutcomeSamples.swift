import TestSupport
import Lull
import LullTesting
import Testing

// The code of the page "Outcomes". Where a sample has no clock of its own, the clock of the test has been added.

@Suite("The samples of the page on outcomes")
struct OutcomeSamples {
    let clock = ManualClock()

    @Test(arguments: ["a", ""])
    func `an outcome that is awaited`(text: String) async throws {
        let (store, draft, lines) = (Store(), Draft(text), Record<String>())
        let print = { @Sendable (line: String) in lines.add(line) }

        let task = clock.task {
            let save = Debouncer(for: .seconds(2), clock: clock) { (draft: Draft) in try await store.save(draft) }

            switch try await save.outcome(of: draft) {
            case .executed(let revision):
                print("saved as revision \(revision)")
            case .failed(let error):
                print("not saved: \(error)")
            case .superseded, .absorbed:
                print("another draft stands for this one")
            case .cancelled:
                print("cancelled")
            case .rejected(let why):
                print("not accepted: \(why)")
            @unknown default:
                break
            }
        }
        await clock.advance(by: .zero, until: .started)
        await clock.advance(by: .seconds(2))
        try await task.value
        #expect(lines.all == [text.isEmpty ? "not saved: Refusal(reason: \"no\")" : "saved as revision 1"])
    }

    @Test
    func `every waiting caller gets the last result, also one that calls while the handler runs`() async throws {
        let source = SlowSource(clock: clock)
        let load = Debouncer(for: .seconds(1), combining: .merge { $0 = $1 }, clock: clock) { (page: Int) in
            try await source.page(page)
        }
        var waiting: [Task<String, any Error>] = []
        func ask(for page: Int) async {
            waiting.append(
                clock.task {
                    switch try await load.outcome(of: page) {
                    case .executed(let text): text
                    case .failed: "failed"
                    case let other: "\(other)"
                    }
                })
            await clock.advance(by: .zero, until: .started)
        }
        for page in 1...3 { await ask(for: page) }
        await clock.advance(by: .seconds(1))
        for page in [4, 0] { await ask(for: page) }
        await clock.advance(by: .seconds(30))
        var texts: [String] = []
        for task in waiting { texts.append(try await task.value) }
        #expect(texts == ["page 3", "page 3", "page 3", "failed", "failed"])
        #expect(await source.asked == [3, 0])
        #expect(load.counters.superseded == 0)
    }

    /// Takes ten seconds, and has no page 0.
    actor SlowSource {
        private(set) var asked: [Int] = []
        private let clock: ManualClock

        init(clock: ManualClock) { self.clock = clock }

        func page(_ number: Int) async throws -> String {
            asked.append(number)
            try await clock.sleep(for: .seconds(10))
            if number == 0 { throw Refusal() }
            return "page \(number)"
        }
    }

    @Test
    @MainActor
    func `a callback`() async {
        let (store, draft) = (Store(), Draft("a"))
        var shown: [Int] = []
        func show(_ revision: Int) { shown.append(revision) }
        let save = Debouncer(for: .seconds(2), clock: clock) { (draft: Draft) in try await store.save(draft) }
        save.submit(draft) { outcome in
            if case .executed(let revision) = outcome { show(revision) }
        }
        await clock.advance(by: .seconds(2))
        #expect(shown == [1])
    }

    @Test
    func `a failure handler`() async {
        let (store, screen) = (Store(), Service())
        let save = Debouncer(
            for: .seconds(2), clock: clock,
            onFailure: { error in await screen.show("not saved: \(error)") }
        ) { (draft: Draft) in
            try await store.save(draft)
        }
        save(Draft(""))
        await clock.advance(by: .seconds(2))
        #expect(await screen.told == ["not saved: Refusal(reason: \"no\")"])
    }
}
