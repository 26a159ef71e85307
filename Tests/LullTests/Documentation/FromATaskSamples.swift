import Lull
import LullTesting
import TestSupport
import Testing

// The code of the article "From a task that sleeps". The plain code sleeps in real time: where that would take long, it
// is compiled, and not waited for.

@Suite("From a task that sleeps")
struct FromATaskSamples {
    @MainActor
    final class PlainSearch {
        private let index: Index
        private(set) var hits: [String] = []
        private var searching: Task<Void, Never>?

        init(index: Index) {
            self.index = index
        }

        func typed(_ query: String) {
            searching?.cancel()
            searching = Task {
                guard (try? await Task.sleep(for: .milliseconds(300))) != nil,
                    let found = try? await index.find(query), !Task.isCancelled
                else { return }
                hits = found
            }
        }
    }

    @Test
    @MainActor
    func `a search that is cancelled shows nothing`() async {
        let search = PlainSearch(index: Index())
        search.typed("ca")
        search.typed("cat")
        await search.end()
        #expect(search.hits.isEmpty)
    }

    @MainActor
    final class PlainEditor {
        private let store: Store
        private var pending: Draft?
        private var saving: Task<Void, Never>?

        init(store: Store) {
            self.store = store
        }

        func edited(_ draft: Draft) {
            pending = draft
            saving?.cancel()
            saving = Task {
                guard (try? await Task.sleep(for: .seconds(2))) != nil else { return }
                await savePending()
            }
        }

        func close() async {
            saving?.cancel()
            await saving?.value
            await savePending()
        }

        private func savePending() async {
            guard let draft = pending else { return }
            pending = nil
            _ = try? await store.save(draft)
        }
    }

    @MainActor
    final class SavingEditor {
        private let save: Debouncer<Draft, Void>

        init(store: Store) {
            save = Debouncer(for: .seconds(2)) { draft in try await store.save(draft) }
        }

        func edited(_ draft: Draft) {
            save(draft)
        }

        func close() async {
            await save.flushAndWait()
        }
    }

    @Test
    @MainActor
    func `both editors save the last draft when they are closed`() async {
        let stores = (plain: Store(), lull: Store())
        let (plain, lull) = (PlainEditor(store: stores.plain), SavingEditor(store: stores.lull))
        for draft in [Draft("a"), Draft("ab")] {
            plain.edited(draft)
            lull.edited(draft)
        }
        await plain.close()
        await lull.close()
        #expect(await stores.plain.drafts == [Draft("ab")])
        #expect(await stores.lull.drafts == [Draft("ab")])
    }

    actor PlainLevels {
        private let hub: Service
        private var sending: [String: Task<Void, Never>] = [:]

        init(hub: Service) {
            self.hub = hub
        }

        func set(_ level: Int, on device: String) {
            sending[device]?.cancel()
            sending[device] = Task {
                guard (try? await Task.sleep(for: .seconds(2))) != nil else { return }
                sending[device] = nil
                try? await hub.set(level, on: device)
            }
        }
    }

    @Test
    func `levels by key`() async {
        let (hub, clock) = (Service(), ManualClock())
        let levels = KeyedDebouncer(for: .seconds(2), clock: clock) { (device: String, level: Int) in
            try await hub.set(level, on: device)
        }
        levels.submit(7, for: "lamp")
        await clock.advance(by: .seconds(2))
        #expect(await hub.told == ["lamp=7"])
    }
}

extension FromATaskSamples.PlainSearch {
    fileprivate func end() async {
        searching?.cancel()
        await searching?.value
    }
}
