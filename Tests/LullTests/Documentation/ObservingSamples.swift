import Lull
import LullTesting
import Observation
import TestSupport
import Testing

// The code of the article "Observing", and what it claims.

@Suite("The samples of Observing")
struct ObservingSamples {
    let clock = ManualClock()
    let lines = Record<String>()

    func print(_ line: String) { lines.add(line) }

    func debouncer() -> Debouncer<Draft, Int> {
        let store = Store()
        return Debouncer(for: .seconds(2), clock: clock) { (draft: Draft) in try await store.save(draft) }
    }

    @Test
    func `the numbers`() async {
        let save = debouncer()
        for text in ["a", "ab", "abc", "abcd", "abcde"] { save(Draft(text)) }
        await clock.advance(by: .seconds(2))
        save(Draft("f"))
        let counters = save.counters
        print("\(counters.submitted) drafts, \(counters.executed) of them saved, \(counters.pending) still to come")
        #expect(lines.all == ["6 drafts, 1 of them saved, 1 still to come"])
        #expect(counters.superseded == 4)
        #expect(counters.addUp)
    }

    @Test
    func `the story, which ends with the task of the observer`() async {
        let save = debouncer()
        let listening = clock.task {
            let events = save.events()
            for await event in events {
                print("\(event.at): \(event.kind), \(event.count) submits")
            }
        }
        await clock.advance(by: .zero, until: .started)
        save(Draft("a"))
        save(Draft("ab"))
        await clock.advance(by: .seconds(2), until: .started)
        await clock.advance(by: .zero, until: .started)
        #expect(
            lines.all == [
                "0.0 seconds: submitted, 1 submits", "0.0 seconds: submitted, 1 submits",
                "0.0 seconds: superseded, 1 submits", "2.0 seconds: started, 2 submits",
                "2.0 seconds: executed, 2 submits",
            ])
        listening.cancel()
        _ = await listening.result
    }

    @Test
    func `a slow observer learns how many events it has missed: together with those it saw, these are all`()
        async throws
    {
        let save = debouncer()
        let listening = clock.task {
            var (seen, missed) = (0, 0)
            for await event in save.events(bufferingNewest: 16) {
                seen += 1
                missed += event.lost
            }
            return seen + missed
        }
        await clock.advance(by: .zero, until: .started)
        for number in 0..<500 { save(Draft("\(number)")) }
        await clock.advance(by: .zero, until: .started)
        listening.cancel()
        #expect(try await listening.value == 999)
    }

    @MainActor
    @Observable
    final class Activity {
        private(set) var isSaving = false

        /// Follows a debouncer until the task is cancelled.
        func follow(_ save: Debouncer<Draft, Int>) async {
            let events = save.events(bufferingNewest: 1)
            isSaving = !save.state.isDone
            for await _ in events { isSaving = !save.state.isDone }
        }
    }

    @Test(arguments: [false, true])
    @MainActor
    func `a spinner turns from the first submit to the end, whether or not somebody awaits the outcome`(awaits: Bool)
        async throws
    {
        let activity = Activity()
        let save = Debouncer(for: .seconds(2), clock: clock) { [clock] (draft: Draft) in
            try await clock.sleep(for: .seconds(3))
            return 1
        }
        let following = clock.task { await activity.follow(save) }
        await clock.advance(by: .zero, until: .started)
        let outcome = awaits ? clock.task { try await save.outcome(of: Draft("a")) } : nil
        if !awaits { save(Draft("a")) }
        await clock.advance(by: .zero, until: .started)
        var seen: [Bool] = []
        for _ in 0..<6 {
            seen.append(activity.isSaving)
            await clock.advance(by: .seconds(1), until: .started)
            await clock.advance(by: .zero, until: .started)
        }
        #expect(seen == [true, true, true, true, true, false])
        #expect(save.state.isDone)
        following.cancel()
        _ = await following.result
        _ = await outcome?.result
    }

    @Test
    @MainActor
    func `a spinner that comes while the handler runs turns at once`() async throws {
        let activity = Activity()
        let save = Debouncer(for: .seconds(2), clock: clock) { [clock] (draft: Draft) in
            try await clock.sleep(for: .seconds(3))
            return 1
        }
        save(Draft("a"))
        await clock.advance(by: .seconds(2), until: .started)
        let following = clock.task { await activity.follow(save) }
        await clock.advance(by: .zero, until: .started)
        #expect(activity.isSaving)
        await clock.advance(by: .seconds(3), until: .started)
        await clock.advance(by: .zero, until: .started)
        #expect(!activity.isSaving && save.state.isDone)
        following.cancel()
        _ = await following.result
    }

    @Test
    func `a recording is a trace without values`() {
        let save = debouncer()
        let recording = save.startRecording()
        // … as long as it takes to see what is usual
        let trace = recording.trace(hashingKeys: true)
        #expect(trace == "")
        save(Draft("a"))
        save(Draft("ab"))
        #expect(recording.trace() == "{\"at\":0.000000000}\n{\"at\":0.000000000}\n")
    }

    @Test
    func `the code of the article is the code above`() throws {
        let article = try ArticleCode("Sources/Lull/Lull.docc/Observing.md")
        #expect(article.samples.count == 5)
        #expect(try article.missing(from: "Tests/LullTests/Documentation/ObservingSamples.swift") == [])
    }
}
