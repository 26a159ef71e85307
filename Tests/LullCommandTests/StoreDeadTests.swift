import CLullSystem
import Foundation
import TestSupport
import Testing

@testable import LullCommand

/// Runs that have failed for good.
@Suite("lull dead", .ownThreads)
struct StoreDeadTests {
    private let store: TestStore

    init() throws {
        store = try TestStore()
    }

    @Test func deadRunsAreListedRetriedAndDiscarded() throws {
        _ = try store.run(
            "run --wait 0 --key-field 1 --max-attempts 1 --jobs 1 --at-end flush", ["--", "false"],
            input: "a 1\nb 2\nc 3\n")
        let list = try store.run("dead list").lines
        #expect(list.count == 4)
        #expect(list[0].hasPrefix("run  key  submits  attempts"))
        #expect(list[1].hasPrefix("1      a        1         1") && list[1].hasSuffix("false failed with status 1"))
        let first = try store.run("dead list --json").lines[0]
        #expect(first.hasPrefix(#"{"run":1,"key":"a","values":["a 1"],"submits":1,"attempts":1,"#), "\(first)")
        #expect(try store.run("dead discard 1").ending == 0)
        #expect(try store.run("dead retry 2").ending == 0)
        // A newer value of the key: the old one must not overwrite it.
        _ = try store.run("submit --after 1h c 4")
        let refused = try store.run("dead retry 3 99")
        #expect(refused.ending == 1)
        #expect(
            refused.errorLines == [
                "lull: run 3 is not tried again: its key has a newer value",
                "lull: run 99 is not among the dead of default",
            ])
        #expect(try store.status() == ["pending": 1, "retrying": 1, "dead": 1])
    }

    @Test func ofAnErrorTheLastLineIsShownWhereItEnds() {
        #expect(ShownText.end(of: "make failed with status 2: one\ntwo") == "two")
        #expect(ShownText.end(of: "make failed with status 2") == "make failed with status 2")
        #expect(ShownText.end(of: "a\u{1B}[2Jb") == "a?[2Jb")
        #expect(ShownText.end(of: String(repeating: "x", count: 60)) == String(repeating: "x", count: 60))
        #expect(ShownText.end(of: String(repeating: "x", count: 70) + "end").count == 60)
        #expect(ShownText.end(of: String(repeating: "x", count: 70) + "end").hasSuffix("xend"))
        #expect(ShownText.end(of: "") == "")
    }

    @Test func whereEveryValueCountsADeadRunIsRetriedThoughNewerOnesCame() throws {
        _ = try store.run(
            "run --wait 0 --combine collect --key-field 1 --max-attempts 1 --at-end flush", ["--", "false"],
            input: "a 1\nb 1\n")
        _ = try store.run("submit --after 1h a 2")
        #expect(try store.run("dead retry 1").ending == 0)
        #expect(try store.status() == ["pending": 1, "retrying": 1, "dead": 1])
        let worker = try store.start("work", ["--", "cat"])
        #expect(try worker.line() == "a 1")
        worker.signal(SIGTERM)
        #expect(try worker.finish().ending == -SIGTERM)
        #expect(try store.status() == ["pending": 1, "dead": 1])
    }

    @Test func aDeadRunIsNotRetriedBesideAnotherRunOfItsKey() throws {
        _ = try store.run("run --wait 0 --combine collect --max-attempts 1", ["--", "false"], input: "1\n")
        _ = try store.run("run --wait 0 --combine collect --at-end wait", ["--", "false"], input: "2\n")
        #expect(try store.status() == ["retrying": 1, "dead": 1])
        let refused = try store.run("dead retry 1")
        #expect(refused.ending == 1)
        #expect(refused.errors == "lull: run 1 is not tried again now: its key has another run\n")
        #expect(try store.status() == ["retrying": 1, "dead": 1])
    }
}
