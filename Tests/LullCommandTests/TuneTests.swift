import Foundation
import TestSupport
import LullCore
import LullTuning
import Testing

@testable import LullCommand

@Suite("lull tune", .ownThreads)
struct TuneTests {
    // MARK: - The figures

    @Test func `every wait has the figures of simulate`() throws {
        var random = SystemRandomNumberGenerator()
        var time = 0.0
        var trace = ""
        for _ in 0..<800 {
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
        for options in [
            "", "--max-wait 300ms", "--edges leading", "--edges leading,trailing", "--max-count 4", "--spacing 400ms",
            "--spacing 400ms --edges both --max-count 4 --max-wait 300ms",
        ] {
            let leading = options == "--edges leading"
            let found = try tuneReport("--waits 10ms,50ms,300ms \(options)", trace)
            #expect(found.throttle.waits.isEmpty == options.contains("spacing"))
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

    @Test func `an execution is premature if the burst goes on within the wait`() throws {
        // With 100ms there are executions at 0.1 (the next submit comes 50ms later), 0.25 (100ms later: a new burst)
        // and 0.45.
        let found = try tuneReport("--waits 100ms", submits(at: [0, 0.15, 0.35]))
        #expect(found.debounce.waits[0].executions == 3)
        #expect(found.debounce.waits[0].premature == 1)
        // In a window of 100ms the first submit is executed; one that follows within it makes that execution premature.
        #expect(try tuneReport("--waits 100ms", submits(at: [0, 0.05, 1])).throttle.waits[0].premature == 1)
    }

    @Test func `an execution is premature if the key goes on within the spacing`() throws {
        // Executions at 0.1 and, held back by the spacing, at 1.1. Submits follow 0.3s and 0.9s after them.
        let trace = submits(at: [0, 0.4, 2])
        #expect(try tuneReport("--waits 100ms", trace).debounce.waits[0].premature == 0)
        #expect(try tuneReport("--waits 100ms --spacing 1s", trace).debounce.waits[0].premature == 2)
        // A submit at the end of the spacing comes too late to wait.
        let late = submits(at: [0, 1.1])
        #expect(try tuneReport("--waits 100ms --spacing 1s", late).debounce.waits[0].premature == 0)
    }

    @Test func `with a spacing there are no throttles`() throws {
        let output = try tune("--waits 10ms..5s --spacing 2s --diagram", bursts).output
        #expect(!output.contains("throttle"), "\(output)")
        #expect(output.contains("\ndebounce "))
        #expect(output.contains("--wait 60ms --spacing 2s: saves 90.0 %"), "\(output)")
        let found = try tuneReport("--waits 10ms..5s --spacing 2s", bursts)
        #expect(found.throttle.waits.isEmpty && found.throttle.suggested == nil)
        #expect(found.debounce.suggested != nil)
    }

    @Test func `the figures of the typing trace are stable`() throws {
        let article = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../data/typing-article.jsonl").standardizedFileURL
        let found = try tuneReport("--waits 300ms,1s", String(contentsOf: article, encoding: .utf8))
        #expect(found.submits == 21411)
        #expect(found.debounce.waits[0].executions == 4852)
        #expect(found.throttle.waits[0].executions == 13543)
    }

    @Test func `without executions there are no delays`() throws {
        #expect(try tune("", "").output.contains("0 submits of 0 keys: nothing was submitted, "))
        let cancelled = "{\"at\":1}\n{\"at\":1,\"op\":\"cancel\"}\n"
        for trace in ["", cancelled] {
            for row in try tuneReport("--edges trailing", trace).debounce.waits {
                #expect(row.executions == 0)
                #expect(row.delayFromLast == nil && row.delayFromFirst == nil && row.longest == nil)
            }
        }
        let lines = try tune("--edges trailing --waits 1s", cancelled).output.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("1s ") && $0.hasSuffix("  -            -          0        -") })
    }

    @Test func `every column is explained`() throws {
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
    func `wrong usage is explained`(options: String, message: String) throws {
        let outcome = try tune(options, "")
        #expect(outcome.ending == 64)
        #expect(outcome.errorLines.count == 1)
        #expect(outcome.errors.hasPrefix("lull: \(message)"), "\(outcome.errors)")
    }

    @Test func `waits of a range are round`() throws {
        let steps = WaitSeries.steps(from: .milliseconds(50), to: .seconds(1)).map { "\($0)" }
        #expect(
            steps == [
                "50ms", "60ms", "80ms", "100ms", "120ms", "150ms", "200ms", "250ms", "300ms", "400ms", "500ms", "600ms",
                "800ms", "1s",
            ])
        #expect(WaitSeries.steps(from: .milliseconds(7), to: .milliseconds(7)).map { "\($0)" } == ["7ms"])
        #expect(WaitSeries.steps(from: .nanoseconds(1), to: .seconds(360_000)).count <= WaitSeries.limit)
    }

    @Test func `waits of a list are sorted`() throws {
        #expect(try tuneReport("--waits 1s,100ms,1s", "").debounce.waits.map(\.wait) == [0.1, 1])
    }
}
