import Foundation
import TestSupport
import Testing

@Suite("lull tune, the suggestion", .ownThreads)
struct TuneSuggestionTests {
    @Test func `the knee is the shortest wait that spans the gaps`() throws {
        let found = try tuneReport("--waits 10ms..5s", bursts)
        // The shortest wait of the series that spans the gaps within a burst: longer ones save nothing more.
        #expect(found.debounce.suggested?.wait == 0.06)
        #expect(found.debounce.suggested?.because == "knee")
        #expect(found.debounce.waits.filter(\.efficient).map(\.wait) == [0.01, 0.06])
    }

    @Test func `a debounce that steady submits hold off lacks a longest wait`() throws {
        let steady = submits(at: (0..<100).map { Double($0) * 0.15 })
        let option = "--waits 50ms,200ms"
        #expect(try tuneReport(option, steady).debounce.suggested?.maxWait == 1)
        #expect(
            try tune(option, steady).output.contains(
                "But submits went on for 15.1s without an execution: try --max-wait 1s; lull tune\n--max-wait 1s says "
                    + "what that saves.\n"))
        // With the limit, and where pauses come, nothing is to be said.
        for (option, lines) in [("\(option) --max-wait 1s", steady), ("--waits 60ms", bursts)] {
            #expect(try tuneReport(option, lines).debounce.suggested?.maxWait == nil)
            #expect(try !tune(option, lines).output.contains("But "))
        }
    }

    @Test func `a target is met by the shortest wait`() throws {
        let found = try tuneReport("--waits 10ms..5s --target-saving 90%", bursts)
        #expect(found.debounce.suggested?.wait == 0.06)
        #expect(found.debounce.suggested?.because == "target")
        #expect(
            try tune("--waits 10ms..5s --target-saving 90%", bursts).output.contains(
                "--wait 60ms: saves 90.0 %, nine of ten within 60ms, at worst 510ms.\nWhy: it meets the target.\n"))
    }

    @Test func `of fewer than ten executions all come within the delay`() throws {
        let bursts = submits(at: (0..<9).flatMap { second in [0, 0.01, 0.02].map { Double(second) + $0 } })
        #expect(try tune("--waits 50ms", bursts).output.hasPrefix("--wait 50ms: saves 66.7 %, all within 50ms"))
        let burst = submits(at: (0..<20).map { Double($0) * 0.01 })
        let answer = try tune("--waits 50ms", burst).lines[0]
        #expect(answer.hasPrefix("--wait 50ms: saves 95.0 %, one execution within 50ms"), "\(answer)")
    }

    @Test func `a target delay alone is met by the wait that saves most`() throws {
        let found = try tuneReport("--waits 10ms,40ms,100ms,1s --target-delay 200ms", bursts)
        #expect(found.debounce.suggested?.wait == 0.1)
    }

    @Test func `the nearest wait is suggested if none meets the target`() throws {
        let options = "--waits 10ms,100ms --target-saving 99%"
        #expect(try tuneReport(options, bursts).debounce.suggested?.because == "nearest")
        let lines = try tune(options, bursts).output.split(separator: "\n").prefix(3)
        #expect(
            lines == [
                "The target is missed: no wait of the table meets it.",
                "--wait 100ms: saves 90.0 %, nine of ten within 100ms, at worst 550ms.",
                "Why: it comes nearest to the target.",
            ])
    }

    @Test func `the kind that meets the target is the answer`() throws {
        // A debounce of steady submits executes at --max-wait, a throttle of 1s a tenth as often.
        let steady = submits(at: (0..<100).map { Double($0) * 0.1 })
        let lines = try tune("--waits 150ms,1s --max-wait 200ms --target-saving 80%", steady).lines
        #expect(lines[0].hasPrefix("--throttle 1s: saves ") && lines[1] == "Why: it meets the target.", "\(lines)")
        let other = lines[2...3].joined(separator: " ")
        #expect(other.hasPrefix("Or --wait 150ms: saves ") && other.hasSuffix(", which misses the target."), "\(other)")
    }

    @Test func `a target that only a saving of nothing meets is missed`() throws {
        let options = "--waits 10ms,100ms --target-delay 20ms"
        #expect(
            try tune(options, bursts).output.hasPrefix(
                "The target is missed: no wait of the table meets it and saves 1 % or more.\n\n"))
        #expect(try tuneReport(options, bursts).debounce.suggested == nil)
    }

    @Test func `a trace without savings is reported`() throws {
        let output = try tune("--waits 10ms,20ms", submits(at: (0..<20).map(Double.init))).output
        #expect(output.hasPrefix("Nothing can be saved: of these waits none saves more than 0.0 % of the submits.\n"))
        #expect(!output.contains("<"))
    }

    @Test func `a trace that is too small gets no suggestion`() throws {
        let few = "No suggestion: at least 20 submits are needed for one.\n"
        for (instants, reason) in [
            ([0], few), ([0, 0.1, 5], few), ((1...19).map(Double.init), few),
            (Array(repeating: 7, count: 30), "No suggestion: all submits came at one instant.\n"),
        ] as [([Double], String)] {
            for options in ["", "--target-saving 50% ", "--target-delay 1s --by-key "] {
                let found = try tuneReport(options, submits(at: instants))
                #expect(found.debounce.suggested == nil && found.throttle.suggested == nil)
                let output = try tune(options, submits(at: instants)).output
                // The message precedes the table.
                #expect(output.hasPrefix(reason), "\(output)")
                #expect(!output.contains("<"))
            }
        }
        #expect(try tune("", submits(at: [0])).output.contains("\n1 submit of 1 key in 0ns."))
        // A picture is possible nevertheless.
        #expect(try tune("--diagram", submits(at: [0, 0.1])).output.contains("\nsubmits "))
    }

    @Test func `a flat curve has no knee`() throws {
        // Every wait of the table coalesces the bursts, and none spans the pauses between them.
        let output = try tune("--waits 100ms..3s", bursts).output
        let answer = "--wait 100ms: saves 90.0 %, nine of ten within 100ms, at worst 550ms.\n"
        #expect(output.hasPrefix(answer), "\(output)")
        #expect(output.contains("\nWhy: the other waits of the table save the same.\n"))
        #expect(try tuneReport("--waits 100ms..3s", bursts).debounce.suggested?.because == "most")
        #expect(!(try tune("--waits 100ms", bursts).output.contains("other waits")))
    }

    @Test func `a saving of less than one percent counts as nothing`() throws {
        // One of 200 submits is saved.
        let instants = (0..<199).map(Double.init) + [198.01]
        let output = try tune("--waits 20ms", submits(at: instants)).output
        #expect(output.hasPrefix("Nothing can be saved: of these waits none saves more than 0.5 % of the submits.\n"))
        #expect(!output.contains("suggested"))
        let found = try tuneReport("--waits 20ms", submits(at: instants))
        #expect(found.debounce.suggested == nil && found.throttle.suggested == nil)
    }

    @Test func `a throttle is the answer if a debounce saves nothing`() throws {
        let steady = (0..<100).map { Double($0) * 0.1 }
        let output = try tune("--waits 50ms,1s --max-wait 50ms", submits(at: steady)).output
        #expect(output.hasPrefix("--throttle 1s: saves "), "\(output)")
        #expect(!output.contains("Or --wait"))
    }

    // MARK: - On a terminal

    @Test func `the answer stays in sight on a terminal of 24 lines`() throws {
        let whole = try lull(["tune", "-"], input: Array(bursts.utf8)).lines
        let part = try lull(["tune", "-"], input: Array(bursts.utf8), environment: ["LINES": "24"]).lines
        #expect(whole.count > 40)
        #expect(part.count <= 23 && part.first == whole.first, "\(part)")
        // Both suggestions are among the waits that are left.
        #expect(part.filter { $0.contains("*< ") } == whole.filter { $0.contains("*< ") })
        #expect(part.last == "Only some of the waits, as the terminal is short; all: lull tune … | cat")
    }

    @Test func `a narrow terminal gets a list that names each kind`() throws {
        let words = ["tune", "--waits", "100ms", "-"]
        let lines = try lull(words, input: Array(bursts.utf8), environment: ["COLUMNS": "22"]).lines
        let kinds = lines.filter { $0.hasPrefix("debounce") || $0.hasPrefix("throttle") }
        #expect(kinds.map { $0.split(separator: " ").prefix(2) } == [["debounce", "100ms"], ["throttle", "100ms"]])
        #expect(lines.allSatisfy { $0.count <= 22 }, "\(lines)")
        #expect(lines.joined(separator: " ").contains("Nine of ten delays are at most as long as shown (p90)."))
    }

    @Test func `the suggestion stands out where colour is wanted`() throws {
        for (options, variables, isColoured) in [
            ("", [:], false), ("--color never", [:], false), ("--color always", [:], true),
            ("--color always", ["NO_COLOR": "1"], true),
        ] as [(String, [String: String], Bool)] {
            let words = ["tune"] + options.split(separator: " ").map(String.init) + ["-"]
            let output = try lull(words, input: Array(bursts.utf8), environment: variables).output
            #expect(output.contains("\u{1B}[1;32m60ms ") == isColoured, "\(options)")
            #expect(output.hasPrefix("\u{1B}[1m--wait 60ms") == isColoured)
            #expect(output.contains("\u{1B}") == isColoured)
        }
    }

    // MARK: - Keys with a wait of their own

    @Test func `keys that need a wait of their own are named`() throws {
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
        let found = try tuneReport("--by-key --target-saving 65%", text)
        #expect(found.debounce.suggested?.wait == 0.06)
        #expect(found.keysOfTheirOwn?.map(\.key) == ["slow"])
        #expect(found.keysOfTheirOwn?.first?.wait == 1.2)
        #expect(try tuneReport("--target-saving 65%", text).keysOfTheirOwn == nil)
    }

    /// Returns many keys whose submits follow one and the same distribution: bursts of up to 20, with longer pauses
    /// between them.
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
    func `no key is named by chance`(_ seed: UInt64, _ submits: ClosedRange<Int>) throws {
        let trace = text(alike(400, seed: seed, submits: submits))
        for options in ["", "--target-saving 60%", "--target-delay 500ms"] {
            let found = try tuneReport("--by-key --waits 50ms,100ms,200ms,500ms,1s,2s,5s \(options)", trace)
            #expect(found.keysOfTheirOwn?.map(\.key) == [], "\(options)")
        }
    }

    @Test func `keys that really differ are found among many`() throws {
        var calls = alike(200, seed: 5, submits: 20...60)
        // Three keys pause for 1.5 s within a burst, the others for 0.4 s on average.
        for key in 0..<3 {
            for step in 0..<60 { calls.append((Double(step / 10) * 60 + Double(step % 10) * 1.5, "slow\(key)")) }
        }
        for options in ["", "--target-saving 60%"] {
            let found = try tuneReport("--by-key \(options)", text(calls))
            #expect(Set(found.keysOfTheirOwn?.map(\.key) ?? []) == ["slow0", "slow1", "slow2"], "\(options)")
            for key in found.keysOfTheirOwn ?? [] { #expect(key.wait >= 1.5) }
        }
    }
}
