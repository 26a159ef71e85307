import Foundation
import TestSupport
import Testing

@testable import LullCommand

#if canImport(FoundationXML)
    import FoundationXML
#endif

@Suite("lull tune", .ownThreads)
struct TuneTests {
    private func tune(_ options: String, _ trace: String) throws -> ToolProcess.Outcome {
        try lull(["tune"] + options.split(separator: " ").map(String.init) + ["-"], input: Array(trace.utf8))
    }

    private func report(_ options: String, _ trace: String) throws -> Report {
        let outcome = try tune("--format json " + options, trace)
        #expect(outcome.ending == 0)
        #expect(outcome.errors == "")
        return try JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8))
    }

    private struct Report: Decodable {
        var submits: Int
        var keys: Int
        var span: Double
        var debounce: Table
        var throttle: Table
        var keysOfTheirOwn: [Own]?

        struct Table: Decodable {
            var waits: [Row]
            var suggested: Suggestion?
        }

        struct Row: Decodable {
            var wait: Double
            var executions: Int
            var saved: Double
            var delayFromLast: [String: Double]?
            var delayFromFirst: [String: Double]?
            var premature: Int
            var longest: Double?
            var efficient: Bool
        }

        struct Suggestion: Decodable {
            var wait: Double
            var because: String
        }

        struct Own: Decodable {
            var key: String
            var wait: Double
        }
    }

    /// Returns a trace with a submit at each of these instants.
    private func trace(_ instants: [Double], key: String = "k") -> String {
        instants.map { "{\"at\":\($0),\"key\":\"\(key)\"}\n" }.joined()
    }

    // MARK: - The figures

    @Test func everyWaitHasTheFiguresOfSimulate() throws {
        var random = SystemRandomNumberGenerator()
        var time = 0.0
        var trace = ""
        for _ in 0..<2000 {
            time += Double.random(in: 0...1, using: &random) < 0.8 ? 0.02 : 1
            let key = Int.random(in: 0..<3, using: &random)
            let line =
                switch Int.random(in: 0..<50, using: &random) {
                case 0: "\"key\":\(key),\"op\":\"flush\""
                case 1: "\"key\":\(key),\"op\":\"cancel\""
                case 2: "\"op\":\"flush\""
                case 3: "\"key\":\(key),\"wait\":\"70ms\""
                default: "\"key\":\(key)"
                }
            trace += "{\"at\":\(time),\(line)}\n"
        }
        for options in ["", "--max-wait 300ms", "--edges leading", "--edges leading,trailing", "--max-count 4"] {
            let leading = options == "--edges leading"
            let found = try report("--waits 10ms,50ms,300ms \(options)", trace)
            for (kind, table) in [("--wait", found.debounce), ("--throttle", found.throttle)] {
                // A throttle has no maximum wait.
                let rest = kind == "--throttle" && options.contains("max-wait") ? "" : options
                for row in table.waits {
                    let arguments = "simulate --format json \(kind) \(Int(row.wait * 1000))ms \(rest) -"
                    let outcome = try lull(
                        arguments.split(separator: " ").map(String.init), input: Array(trace.utf8))
                    let expected = try JSONDecoder().decode(Simulated.self, from: Data(outcome.output.utf8))
                    #expect(row.executions == expected.executions, "\(arguments)")
                    #expect(abs(row.saved - expected.saved) < 1e-9)
                    #expect(row.longest == expected.delayFromFirst["max"])
                    for name in leading ? [] : ["p50", "p90", "p99"] {
                        #expect(row.delayFromLast?[name] == expected.delayFromLast[name], "\(arguments)")
                        #expect(row.delayFromFirst?[name] == expected.delayFromFirst[name], "\(arguments)")
                    }
                }
            }
        }
    }

    private struct Simulated: Decodable {
        var executions: Int
        var saved: Double
        var delayFromLast: [String: Double]
        var delayFromFirst: [String: Double]
    }

    @Test func anExecutionIsPrematureIfTheBurstGoesOnWithinTheWait() throws {
        // With 100ms there are executions at 0.1 (the next submit comes 50ms later), 0.25 (100ms later: a new burst) and 0.45.
        let found = try report("--waits 100ms", trace([0, 0.15, 0.35]))
        #expect(found.debounce.waits[0].executions == 3)
        #expect(found.debounce.waits[0].premature == 1)
        // In a window of 100ms the first submit is executed; one that follows within it makes that execution premature.
        #expect(try report("--waits 100ms", trace([0, 0.05, 1])).throttle.waits[0].premature == 1)
    }

    @Test func theFiguresOfTheTypingTraceAreStable() throws {
        let article = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../data/typing-article.jsonl").standardizedFileURL
        let found = try report("--waits 300ms,1s", String(contentsOf: article, encoding: .utf8))
        #expect(found.submits == 21411)
        #expect(found.debounce.waits[0].executions == 4852)
        #expect(found.throttle.waits[0].executions == 13543)
    }

    // MARK: - The suggestion

    /// Returns bursts of ten submits 50ms apart, with pauses of ten seconds between the bursts.
    private var bursts: String {
        trace((0..<20).flatMap { burst in (0..<10).map { Double(burst) * 10 + Double($0) * 0.05 } })
    }

    @Test func theKneeIsTheShortestWaitThatSpansTheGaps() throws {
        let found = try report("--waits 10ms..5s", bursts)
        // The shortest wait of the series that spans the gaps within a burst: longer ones save nothing more.
        #expect(found.debounce.suggested?.wait == 0.06)
        #expect(found.debounce.suggested?.because == "knee")
        #expect(found.debounce.waits.filter(\.efficient).map(\.wait) == [0.01, 0.06])
    }

    @Test func aTargetIsMetByTheShortestWait() throws {
        let found = try report("--waits 10ms..5s --target-saving 90%", bursts)
        #expect(found.debounce.suggested?.wait == 0.06)
        #expect(found.debounce.suggested?.because == "target")
        #expect(
            try tune("--waits 10ms..5s --target-saving 90%", bursts).output.contains(
                "--wait 60ms: saves 90.0 %, nine of ten within 60ms, which meets the target\n"))
    }

    @Test func aTargetDelayAloneIsMetByTheWaitThatSavesMost() throws {
        let found = try report("--waits 10ms,40ms,100ms,1s --target-delay 200ms", bursts)
        #expect(found.debounce.suggested?.wait == 0.1)
    }

    @Test func theNearestWaitIsSuggestedIfNoneMeetsTheTarget() throws {
        let options = "--waits 10ms,100ms --target-saving 99%"
        #expect(try report(options, bursts).debounce.suggested?.because == "nearest")
        #expect(
            try tune(options, bursts).output.contains(
                "no debounce of the table meets the target; --wait 100ms comes nearest: saves\n90.0 %, nine of ten within 100ms\n"
            ))
    }

    @Test func aTraceWithoutSavingsIsReported() throws {
        let output = try tune("--waits 10ms,20ms", trace((0..<20).map(Double.init))).output
        #expect(output.contains("no debounce of the table saves anything\n"))
    }

    @Test func aTraceThatIsTooSmallGetsNoSuggestion() throws {
        let few = "No suggestion: at least 20 submits are needed for one.\n"
        for (instants, reason) in [
            ([0], few), ([0, 0.1, 5], few), ((1...19).map(Double.init), few),
            (Array(repeating: 7, count: 30), "No suggestion: all submits came at one instant.\n"),
        ] as [([Double], String)] {
            for options in ["", "--target-saving 50% ", "--target-delay 1s --by-key "] {
                let found = try report(options, trace(instants))
                #expect(found.debounce.suggested == nil && found.throttle.suggested == nil)
                let output = try tune(options, trace(instants)).output
                // The message precedes the tables.
                #expect(output.split(separator: "\n", maxSplits: 1)[1].hasPrefix(reason), "\(output)")
                #expect(!output.contains("<"))
            }
        }
        #expect(try tune("", trace([0])).output.hasPrefix("1 submit of 1 key in 0ns."))
        // A picture is possible nevertheless.
        #expect(try tune("--diagram", trace([0, 0.1])).output.contains("\nsubmits "))
    }

    @Test func withoutExecutionsThereAreNoDelays() throws {
        #expect(try tune("", "").output.contains("0 submits of 0 keys: nothing was submitted, "))
        let cancelled = "{\"at\":1}\n{\"at\":1,\"op\":\"cancel\"}\n"
        for trace in ["", cancelled] {
            for row in try report("--edges trailing", trace).debounce.waits {
                #expect(row.executions == 0)
                #expect(row.delayFromLast == nil && row.delayFromFirst == nil && row.longest == nil)
            }
        }
        let lines = try tune("--edges trailing --waits 1s", cancelled).output.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("1s ") && $0.hasSuffix("  -            -          0        -") })
    }

    @Test func everyColumnIsExplained() throws {
        let help = try lull("tune", "--help").output
        let table = try tune("", bursts).output.split(separator: "\n", omittingEmptySubsequences: false)
        for head in table where head.hasPrefix("debounce ") || head.hasPrefix("throttle ") {
            for column in head.split(separator: "  ").map({ $0.trimmingCharacters(in: .whitespaces) }) {
                #expect(help.contains("\n  \(column)") || help.contains(", \(column) "), "\(column)")
            }
        }
        for mark in ["*", "<"] { #expect(help.contains("\n  \(mark)  ")) }
        #expect(help.contains("knee"))
    }

    @Test func keysThatNeedAWaitOfTheirOwnAreNamed() throws {
        // One key pauses within its bursts for much longer than the others.
        var calls: [(at: Double, key: String)] = []
        for burst in 0..<30 {
            for step in 0..<10 {
                for key in ["a", "b", "c"] { calls.append((Double(burst) * 60 + Double(step) * 0.05, key)) }
                calls.append((Double(burst) * 60 + Double(step) * 1.1, "slow"))
            }
        }
        calls.sort { $0.at < $1.at }
        let text = calls.map { "{\"at\":\($0.at),\"key\":\"\($0.key)\"}\n" }.joined()
        let found = try report("--by-key --target-saving 65%", text)
        #expect(found.debounce.suggested?.wait == 0.06)
        #expect(found.keysOfTheirOwn?.map(\.key) == ["slow"])
        #expect(found.keysOfTheirOwn?.first?.wait == 1.2)
        #expect(try report("--target-saving 65%", text).keysOfTheirOwn == nil)
    }

    /// Returns many keys whose submits follow one and the same distribution: bursts of up to 20, with longer pauses between them.
    private func alike(_ keys: Int, seed: UInt64, submits: ClosedRange<Int>) -> [(at: Double, key: String)] {
        var random = SeededRandom(seed: seed)
        var calls: [(at: Double, key: String)] = []
        for key in 0..<keys {
            var time = Double.random(in: 0..<100, using: &random)
            var left = 0
            for _ in 0..<Int.random(in: submits, using: &random) {
                if left == 0 {
                    left = Int.random(in: 1...20, using: &random)
                    time += Double.random(in: 5..<60, using: &random)
                } else {
                    time += -log(Double.random(in: 0.0001..<1, using: &random)) * 0.4
                }
                left -= 1
                calls.append((time, "k\(key)"))
            }
        }
        return calls
    }

    private func text(_ calls: [(at: Double, key: String)]) -> String {
        calls.sorted { $0.at < $1.at }.map { "{\"at\":\($0.at),\"key\":\"\($0.key)\"}\n" }.joined()
    }

    @Test(arguments: [(1, 20...30), (3, 20...200)] as [(UInt64, ClosedRange<Int>)])
    func noKeyIsNamedByChance(_ seed: UInt64, _ submits: ClosedRange<Int>) throws {
        let trace = text(alike(2000, seed: seed, submits: submits))
        for options in ["", "--target-saving 60%", "--target-delay 500ms"] {
            let found = try report("--by-key --waits 50ms,100ms,200ms,500ms,1s,2s,5s \(options)", trace)
            #expect(found.keysOfTheirOwn?.map(\.key) == [], "\(options)")
        }
    }

    @Test func keysThatReallyDifferAreFoundAmongMany() throws {
        var calls = alike(1000, seed: 5, submits: 20...60)
        // Three keys pause for 1.5 s within a burst, the others for 0.4 s on average.
        for key in 0..<3 {
            for step in 0..<60 { calls.append((Double(step / 10) * 60 + Double(step % 10) * 1.5, "slow\(key)")) }
        }
        for options in ["", "--target-saving 60%"] {
            let found = try report("--by-key \(options)", text(calls))
            #expect(Set(found.keysOfTheirOwn?.map(\.key) ?? []) == ["slow0", "slow1", "slow2"], "\(options)")
            for key in found.keysOfTheirOwn ?? [] { #expect(key.wait >= 1.5) }
        }
    }

    @Test func aFlatCurveHasNoKnee() throws {
        // Every wait of the table coalesces the bursts, and none spans the pauses between them.
        let output = try tune("--waits 100ms..3s", bursts).output
        let sentence =
            "--wait 100ms: saves 90.0 %, nine of ten within 100ms; the other waits of the table save the same"
        #expect(output.replacing("\n", with: " ").contains(sentence), "\(output)")
        #expect(try report("--waits 100ms..3s", bursts).debounce.suggested?.because == "most")
        #expect(!(try tune("--waits 100ms", bursts).output.contains("other waits")))
    }

    // MARK: - Pictures

    @Test func aDiagramShowsSubmitsAndExecutions() throws {
        let outcome = try lull(
            ["simulate", "--wait", "300ms", "--diagram", "-"], input: Array(trace([0, 0.1, 0.2, 2]).utf8))
        #expect(
            outcome.lines.suffix(4) == [
                #"key "k" from 0s on; a column is 38.2ms"#,
                "submits         o..o..o..............................................o..........",
                "debounce 300ms  -------------x.......................................--------x..",
                "(o a submit; - a value waits; x an execution; . nothing)",
            ])
    }

    @Test func aDiagramEndsShortlyAfterTheLastExecution() throws {
        let trace = trace((0..<8).map { Double($0) / 7 })
        for options in [["--throttle", "500ms"], ["--wait", "1s"]] {
            let lines = try lull(["simulate"] + options + ["--diagram", "-"], input: Array(trace.utf8)).lines.suffix(4)
            let marks = lines.map { $0.drop { $0 != " " }.drop { $0 == " " } }
            let executions = marks[2]
            let last = try #require(executions.lastIndex(of: "x"))
            let columns = executions.distance(from: last, to: executions.endIndex)
            #expect(2...20 ~= columns, "\(lines)")
        }
    }

    @Test func theLegendOfADiagramListsTheMarksThatOccur() throws {
        func legend(_ options: [String], _ instants: [Double]) throws -> String? {
            try lull(["simulate", "--diagram"] + options + ["-"], input: Array(trace(instants).utf8)).lines.last
        }
        #expect(
            try legend(["--throttle", "1s", "--edges", "leading"], [0])
                == "(o a submit; x an execution; . nothing)")
        #expect(
            try legend(["--wait", "1s"], [0, 0, 0])
                == "(3 submits in one column; - a value waits; x an execution; . nothing)")
    }

    @Test func aPictureIsWrittenToAFile() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).svg")
        defer { try? FileManager.default.removeItem(at: path) }
        for command in [["tune"], ["simulate", "--wait", "100ms"]] {
            let outcome = try lull(command + ["--svg", path.path, "-"], input: Array(bursts.utf8))
            #expect(outcome.ending == 0)
            let picture = try String(contentsOf: path, encoding: .utf8)
            let parser = XMLParser(data: Data(picture.utf8))
            #expect(parser.parse(), "\(String(describing: parser.parserError))")
            #expect(picture.contains("debounce"))
        }
    }

    @Test func anUnwritablePictureIsAnError() throws {
        let outcome = try lull(["tune", "--svg", "/nowhere/picture.svg", "-"], input: Array(bursts.utf8))
        #expect(outcome.ending == 74)
        #expect(outcome.errors == "lull: /nowhere/picture.svg: No such file or directory\n")
    }

    // MARK: - Usage

    @Test(arguments: [
        ("--waits 5s..50ms", "--waits: the first of the two must be the shorter one"),
        ("--waits 0..1s", "--waits: a range starts above zero: nothing is coalesced with a wait of zero"),
        ("--waits 100", "--waits: \"100\" has no unit: write 100s or 100ms"),
        ("--waits 1s,,2s", "--waits: \"\" is not a duration"),
        ("--target-saving 90", "--target-saving must be a percentage such as 90%, not \"90\""),
        ("--target-saving 101%", "--target-saving must be a percentage such as 90%, not \"101%\""),
        ("--throttle 1s", "lull tune has no option --throttle"),
        ("--edges leading --max-count 3", "--max-count needs the trailing edge"),
    ])
    func wrongUsageIsExplained(options: String, message: String) throws {
        let outcome = try tune(options, "")
        #expect(outcome.ending == 64)
        #expect(outcome.errorLines.count == 1)
        #expect(outcome.errors.hasPrefix("lull: \(message)"), "\(outcome.errors)")
    }

    @Test func waitsOfARangeAreRound() throws {
        let steps = try WaitSeries.parse("50ms..1s").map { "\($0)" }
        #expect(
            steps == [
                "50ms", "60ms", "80ms", "100ms", "120ms", "150ms", "200ms", "250ms", "300ms", "400ms", "500ms", "600ms",
                "800ms", "1s",
            ])
        #expect(try WaitSeries.parse("7ms..7ms").map { "\($0)" } == ["7ms"])
        #expect(try WaitSeries.parse("1ns..100h").count <= WaitSeries.limit)
        #expect(try WaitSeries.parse("1s,100ms,1s").map { "\($0)" } == ["100ms", "1s"])
    }
}
