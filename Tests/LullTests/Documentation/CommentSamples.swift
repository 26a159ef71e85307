import Lull
import LullTesting
import TestSupport
import Testing

// The code in the documentation comments of LullTesting.

@Suite("The samples in the comments of LullTesting")
struct TestingCommentSamples {
    @Test("a clock that a test advances")
    func clock() async {
        let store = Store()
        let clock = ManualClock()
        let save = Debouncer(for: .seconds(2), clock: clock) { (draft: Draft) in try await store.save(draft) }
        save(Draft("a"))
        save(Draft("ab"))
        await clock.advance(by: .seconds(2))
        #expect(await store.drafts == [Draft("ab")])
    }

    @Test("a call that returns only after the clock has moved")
    func task() async throws {
        let clock = ManualClock()
        let save = Debouncer(for: .seconds(2), clock: clock) { (draft: String) in draft.count }
        let outcome = clock.task { try await save.outcome(of: "ab") }
        await clock.advance(by: .zero, until: .started)
        await clock.advance(by: .seconds(2))
        guard case .executed(2) = try await outcome.value else { Issue.record("not executed"); return }
    }

    @Test("the code of the comments is the code above")
    func comments() throws {
        let comments = try ArticleCode(commentsIn: "Sources/LullTesting")
        #expect(comments.samples.count >= 2)
        #expect(try comments.missing(from: "Tests/LullTests/Documentation/CommentSamples.swift") == [])
    }
}
