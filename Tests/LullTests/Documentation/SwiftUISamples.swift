import Lull
import LullTesting
import Observation
import TestSupport
import Testing

// The model of the article "SwiftUI step by step". Its views are not compiled: there is no SwiftUI on Linux.

@Suite("The samples of SwiftUI step by step")
struct SwiftUISamples {
    @MainActor
    @Observable
    final class NotesModel {
        let query: DebouncedValue<String>
        private(set) var status = "saved"

        @ObservationIgnored
        private lazy var save = Debouncer(for: .seconds(2), maxWait: .seconds(10), clock: clock) {
            @MainActor [store, weak self] (draft: Draft) in
            try await store.save(draft)
            self?.status = "saved"
        }

        private let store: Store
        private let clock: any Clock<Duration>

        init(store: Store, clock: any Clock<Duration> = ContinuousClock()) {
            self.store = store
            self.clock = clock
            query = DebouncedValue("", for: .milliseconds(300), clock: clock)
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
    func `a model that a view binds its fields to`() async {
        let (store, clock) = (Store(), ManualClock())
        let model = NotesModel(store: store, clock: clock)
        model.query.value = "ca"
        model.edited(Draft("a"))
        #expect(model.query.settled == "" && model.status == "edited")
        await clock.advance(by: .milliseconds(300))
        #expect(model.query.settled == "ca")
        await model.leave()
        #expect(model.status == "saved")
        #expect(await store.drafts == [Draft("a")])
    }
}
