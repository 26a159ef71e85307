import TestSupport
import Testing

/// The code of a page is that of the tests beside this file, word by word, but for the clock of the test.
@Suite("The code of a page")
struct PageTests {
    static let pages = [
        "Lull/Lull": "GettingStartedSamples",
        "Lull/GettingStarted": "GettingStartedSamples",
        "Lull/ActorsThatOwnADebouncer": "ActorSamples",
        "Lull/ChangingTheWait": "WaitSamples",
        "Lull/FromATaskThatSleeps": "FromATaskSamples",
        "Lull/ChoosingAPolicy": "PolicySamples",
        "Lull/WhileAHandlerRuns": "WhileRunningSamples",
        "Lull/MainActorByDefault": "MainActorSamples",
        "Lull/Outcomes": "OutcomeSamples",
        "Lull/Sequences": "SequenceSamples",
        "Lull/SwiftUIStepByStep": "SwiftUISamples",
        "LullTesting/Testing": "TestingSamples",
        "LullTesting/TestingCodeThatSleeps": "SleepingSamples",
    ]

    @Test(arguments: pages.keys.sorted())
    func `is compiled and run`(page: String) throws {
        let (module, name) = (page.prefix { $0 != "/" }, page.drop { $0 != "/" })
        let article = try ArticleCode("Sources/\(module)/\(module).docc\(name).md")
        #expect(article.samples.count >= 2)
        let source = "Tests/LullTests/Documentation/\(Self.pages[page] ?? "").swift"
        #expect(try article.missing(from: source, ignoring: ", clock: clock") == [])
    }

    static let guides = [
        "README.md": "LullTests/Documentation/GuideSamples",
        "docs/job-queues.md": "LullDurableTests/Samples/GuideSamples",
        "docs/troubleshooting.md": "LullTests/Documentation/GuideSamples",
    ]

    @Test(arguments: guides.keys.sorted())
    func `of a guide outside the documentation is compiled and run, too`(path: String) throws {
        let guide = try ArticleCode(path)
        #expect(!guide.samples.isEmpty)
        let source = "Tests/\(Self.guides[path] ?? "").swift"
        #expect(try guide.missing(from: source, ignoring: ", clock: clock") == [])
    }

    @Test(arguments: ["Lull": 15, "LullTesting": 3])
    func `in a comment is that of the tests, too`(module: String, count: Int) throws {
        let comments = try ArticleCode(commentsIn: "Sources/\(module)")
        #expect(comments.samples.count >= count)
        #expect(try comments.missing(from: "Tests/LullTests/Documentation/CommentSamples.swift") == [])
    }

    @Test
    func `that no test has is named, and so is the file where it belongs`() throws {
        let article = try ArticleCode("Sources/Lull/Lull.docc/GettingStarted.md")
        let elsewhere = "Tests/LullTests/Documentation/WaitSamples.swift"
        let messages = try article.missing(from: elsewhere)
        #expect(messages.count >= 5)
        let line = try #require(article.samples.first?.split(separator: "\n").first)
        let first = try #require(messages.first)
        #expect(first.hasPrefix("Sources/Lull/Lull.docc/GettingStarted.md:"))
        #expect(first.contains(elsewhere) && first.hasSuffix("line 1 on: \(line)"))
    }
}
