import Foundation
import Lull
import LullDispatch
import LullTesting
import TestSupport
import Testing

// The code of the articles of LullDispatch, in real time where it has no clock.

@Suite("The samples of LullDispatch")
@MainActor
struct DocumentationSamples {
    let clock = ManualClock()

    final class Results: Sendable {
        let texts = Record<String>()
        func search(_ text: String) { texts.add(text) }
    }

    @Test
    func `a closure`() async throws {
        let (results, field) = (Results(), (text: "cat", tag: 1))
        let search = debounced(for: 0.3) { (text: String) in results.search(text) }
        search(field.text)
        try await waitUntil { !results.texts.all.isEmpty }
        #expect(results.texts.all == ["cat"])
    }

    @Test
    func `a last-out queue`() {
        final class Speaker: Sendable {
            let volumes = Record<Int>()
            func set(_ volume: Int) { volumes.add(volume) }
        }
        let speaker = Speaker()
        let queue = LastOutQueue(delay: 2)
        for volume in 0...10 {
            queue.enqueue(forKey: "volume") { speaker.set(volume) }
        }
        queue.executePendingTasks()
        #expect(speaker.volumes.all == [10])
    }

    @Test
    func `work on an operation queue`() async throws {
        let (results, operations) = (Results(), OperationQueue())
        Origins.Throttle.onQueue(operations, by: 0.3) { results.search("cat") }
        let pause = DelayOperation(timeInterval: 0.01)
        let work = BlockOperation { results.search("dog") }
        work.addDependency(pause)
        for operation in [pause, work] { operations.addOperation(operation) }
        try await waitUntil { results.texts.all.count >= 2 }
        #expect(Set(results.texts.all) == ["cat", "dog"])
    }

    @MainActor
    final class SearchScreen {
        let results = Results()
        var text = ""

        func textChanged() {
            Origins.Throttle.onMainQueue(by: 0.3, leading: true) { self.results.search(self.text) }
        }
    }

    // Only this test may use the throttle of the main queue, of which there is only one.
    @Test
    func `work of the main actor on the main queue`() async throws {
        let screen = SearchScreen()
        for text in ["c", "ca", "cat"] {
            screen.text = text
            screen.textChanged()
        }
        try await waitUntil { screen.results.texts.all.count >= 2 }
        // The first one runs as soon as the main queue is free, and reads the text then.
        #expect(screen.results.texts.all == ["cat", "cat"])
    }

    @Test
    func `delayed preemptive dispatch`() {
        let printed = Record<String>()
        @Sendable func print(_ line: String) { printed.add(line) }
        let later = DelayedPreemptiveDispatchQueue()
        later.delay(2) { print("first") }
        later.delay(1) { print("second") }
        later.cancel()
        #expect(later.empty)
        #expect(printed.all == [])
    }

    @Test
    func `work in the background`() {
        let synced = Record<String>()
        @Sendable func syncSteps() { synced.add("steps") }
        let sync = BackgroundDebouncer(timeInterval: 2)
        sync.handler = { syncSteps() }
        for _ in 1..<100 {
            sync.handler = { syncSteps() }
        }
        sync.flush()
        #expect(synced.all == ["steps"])
    }

    /// Returns what is synced, and in which minute.
    final class Store: Sendable {
        let clock: ManualClock
        let synced = Record<String>()
        init(_ clock: ManualClock) { self.clock = clock }
        func sync(_ change: String) async { synced.add("\(change)\(clock.now.sinceStart.components.seconds / 60)") }
    }

    enum Reading: CaseIterable { case peace, leading, both }

    @Test(arguments: Reading.allCases)
    func `at most once in two minutes, in three readings`(reading: Reading) async {
        let store = Store(clock)
        let peace = Debouncer(for: .seconds(120), clock: clock) { (change: String) in
            await store.sync(change)
        }
        let leading = Throttler(every: .seconds(120), edges: .leading, clock: clock) { (change: String) in
            await store.sync(change)
        }
        let both = Throttler(every: .seconds(120), clock: clock) { (change: String) in
            await store.sync(change)
        }
        for (change, minute) in [("a", 0), ("b", 1), ("c", 5), ("d", 6), ("e", 10)] {
            await clock.advance(to: ManualClock.Instant.zero.advanced(by: .seconds(60 * minute)))
            switch reading {
            case .peace: peace(change)
            case .leading: leading(change)
            case .both: both(change)
            }
        }
        await clock.advance(by: .seconds(600))
        switch reading {
        case .peace: #expect(store.synced.all == ["b3", "d8", "e12"])
        case .leading: #expect(store.synced.all == ["a0", "c5", "e10"])
        case .both: #expect(store.synced.all == ["a0", "b2", "c5", "d7", "e10"])
        }
    }

    @Test(arguments: ["LullDispatch", "WorkInTheBackground"])
    func `the code of the articles is the code above`(name: String) throws {
        let article = try ArticleCode("Sources/LullDispatch/LullDispatch.docc/\(name).md")
        #expect(try article.missing(from: "Tests/LullDispatchTests/DocumentationSamples.swift") == [])
    }
}
