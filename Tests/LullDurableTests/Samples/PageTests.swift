import TestSupport
import Testing

/// The code of a page is that of the tests beside this file, word by word, but for the clock of the test.
@Suite("The code of a page about stores")
struct PageTests {
    static let pages = [
        "LullDurable": "DocumentationSamples",
        "WorkThatSurvives": "DocumentationSamples",
        "AtMostOnceInTwoMinutes": "ThrottleSamples",
        "CoalescingWebhooks": "WebhookSamples",
        "FinishingTheSync": "SyncSamples",
        "JoiningServers": "ServerSamples",
    ]

    @Test(arguments: pages.keys.sorted())
    func `is compiled and run`(page: String) throws {
        let article = try ArticleCode("Sources/LullDurable/LullDurable.docc/\(page).md")
        #expect(article.samples.count >= 1)
        let source = "Tests/LullDurableTests/Samples/\(Self.pages[page] ?? "").swift"
        #expect(try article.missing(from: source, ignoring: ", clock: clock") == [])
    }

    @Test(arguments: ["LullDurable": 10, "LullSQLite": 1])
    func `in a comment is that of the tests, too`(module: String, count: Int) throws {
        let comments = try ArticleCode(commentsIn: "Sources/\(module)")
        #expect(comments.samples.count >= count)
        #expect(try comments.missing(from: "Tests/LullDurableTests/Samples/CommentSamples.swift") == [])
    }
}
