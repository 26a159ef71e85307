import TestSupport
import Testing

/// The code of a page is that of the tests beside this file, word by word, but for the clock of the test.
@Suite("The code of a page")
struct PageTests {
    static let pages = [
        "GettingStarted": "GettingStartedSamples",
        "ActorsThatOwnADebouncer": "ActorSamples",
        "ChoosingAPolicy": "ArticleSamples",
        "WhileAHandlerRuns": "ArticleSamples",
        "MainActorByDefault": "MainActorSamples",
        "Outcomes": "ArticleSamples",
        "Sequences": "ArticleSamples",
    ]

    @Test("is compiled and run", arguments: pages.keys.sorted())
    func samples(page: String) throws {
        let article = try ArticleCode("Sources/Lull/Lull.docc/\(page).md")
        #expect(article.samples.count >= 2)
        let source = "Tests/LullTests/Documentation/\(Self.pages[page] ?? "").swift"
        #expect(try article.missing(from: source, ignoring: ", clock: clock") == [])
    }
}
