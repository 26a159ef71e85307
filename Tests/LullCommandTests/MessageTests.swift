import CLullCommand
import Foundation
import LullCore
import TestSupport
import Testing

@testable import LullCommand

@Suite("Messages", .ownThreads)
struct MessageTests {
    // MARK: - Repeated messages

    @Test func `skipped records are counted after the first`() throws {
        let records = (1...5000).map { "k\($0) v\n" }.joined()
        let outcome = try lull(
            "filter", "--wait", "1h", "--key-field", "1", "--max-keys", "2", "--stats", input: records)
        #expect(outcome.ending == 0)
        #expect(
            outcome.errorLines == [
                "lull: line 3 skipped: 2 keys are in memory already", "lull: 4,998 records skipped: over --max-keys",
                "lull: submitted 5000, executed 2, superseded 0, absorbed 0, cancelled 0, rejected 4998, failed 0, "
                    + "pending 0, running 0, skipped 4998",
            ])
    }

    @Test func `each kind of message is counted separately`() throws {
        let input = String(repeating: "nonsense\n{}\n", count: 600)
        let store = try TemporaryFile()
        unlink(store.path)
        defer { for suffix in ["-wal", "-shm", "-want", "-write"] { unlink(store.path + suffix) } }
        for more in [[], ["--store", "sqlite:\(store.path)"]] {
            let outcome = try lull(["filter", "--wait", "1h", "--key-json", "/a"] + more, input: Array(input.utf8))
            #expect(outcome.errorLines.first?.hasPrefix("lull: line 1 skipped: it is not JSON: ") == true)
            #expect(
                outcome.errorLines.dropFirst() == [
                    "lull: line 2 skipped: it has no value at the pointer",
                    "lull: 600 records skipped: not JSON", "lull: 600 records skipped: no value at the pointer",
                ])
        }
    }

    @Test func `a message is repeated after a minute`() {
        var limiter = MessageLimiter()
        var log: [UInt8] = []
        func at(_ seconds: Int64) -> CoreInstant { CoreInstant(nanoseconds: seconds * 1_000_000_000) }
        for second in [0, 1, 2, 59, 60, 61, 200] as [Int64] {
            limiter.report("at \(second)", of: "times", at: at(second), to: &log)
        }
        limiter.reportCounts(to: &log)
        limiter.report("at 300", of: "times", at: at(300), to: &log)
        limiter.reportCounts(to: &log)
        let lines = String(decoding: log, as: UTF8.self).split(separator: "\n")
        #expect(lines == ["lull: at 0", "lull: 5 times", "lull: 7 times", "lull: at 300"])
    }

    // MARK: - Terminals

    @Test(arguments: [
        ("\u{1B}[31m", "?[31m"), ("a\nb\u{7F}", "a?b?"), ("\u{9B}31m\u{85}", "?31m?"),
        ("\u{202E}evil\u{2066}", "?evil?"),
        ("\u{2028}\u{2029}\u{FEFF}", "???"), ("žluť 木 👩‍👧", "žluť 木 👩‍👧"),
    ])
    func `control characters are replaced`(_ text: String, _ shown: String) {
        #expect(Terminal.plain(text) == shown)
    }

    @Test func `invalid UTF-8 is replaced`() {
        #expect(Terminal.shown([0x61, 0x9B, 0x33, 0xFF]) == "a\u{FFFD}3\u{FFFD}")
    }

    @Test func `text is cut by columns`() {
        #expect(Terminal.cut("abcdef", to: 6) == "abcdef")
        #expect(Terminal.cut("abcdefg", to: 6) == "abcde…")
        #expect(Terminal.cut("木木木木", to: 6) == "木木…")
        #expect(Terminal.cutInTheMiddle("abcdefghij", to: 7) == "abc…hij")
        #expect(Terminal.end(of: "abcdefghij", upTo: 4) == "…hij")
        #expect(Terminal.end(of: "abcdefghij", upTo: 10) == "abcdefghij")
        #expect(Terminal.wrap("one two three", to: 8) == ["one two", "three"])
    }

    @Test func `no message takes more than a line or two`() throws {
        let long = String(repeating: "x\u{1B}", count: 50_000)
        let words = try lull("filter", "--wait", String(repeating: "some words ", count: 10_000))
        #expect(words.errorLines.count == 1)
        #expect(words.errors.count <= 241)
        #expect(words.errors.hasSuffix(" (see lull filter --help)\n"))
        for arguments in [
            ["filter", "--wait", long], ["filter", "--wait", "1s", "--" + long],
            ["simulate", "--wait", "1s", "/" + long],
            ["filter", "--wait", "1s", long], ["run", "--wait", "1s", "--", long],
            ["status", "--store", "sqlite:/nowhere/" + long],
        ] {
            let outcome = try lull(arguments, input: [])
            #expect(outcome.ending > 0)
            #expect(outcome.errorLines.count == 1)
            #expect(outcome.errors.count <= 241, "\(outcome.errors)")
            #expect(!outcome.errors.contains("\u{1B}"))
        }
        let failed = try lull(
            ["run", "--wait", "1h", "--key-field", "1", "--", "false"], input: Array("\(long)\u{9B} 1\n".utf8))
        #expect(failed.errorLines.count == 1)
        #expect(failed.errors.hasPrefix("lull: key x"))
        #expect(failed.errors.hasSuffix(" failed with status 1\n"))
        #expect(failed.errors.count <= 161)
    }

    // MARK: - Tables

    @Test func `text is aligned left and numbers right`() {
        let rows = [["run", "key", "age", "error"], ["1", "b", "5s", "-"], ["12", "lamp", "100ms", "failed"]]
        var text: [UInt8] = []
        Table.append(rows, left: ["key", "error"], width: 80, to: &text)
        #expect(
            String(decoding: text, as: UTF8.self) == """
                run  key     age  error
                1    b        5s  -
                12   lamp  100ms  failed

                """)
    }

    @Test func `tables fit the terminal`() {
        let rows = [
            ["run", "key", "error"],
            ["12", String(repeating: "k", count: 50), String(repeating: "e", count: 90)], ["13", "木木", "\u{1B}\n"],
        ]
        for width in [200, 100, 80, 60, 40, 20, 10] {
            var text: [UInt8] = []
            Table.append(rows, width: width, to: &text)
            let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
            #expect(lines.allSatisfy { Terminal.columns(of: String($0)) <= width }, "\(width): \(lines)")
            #expect(!text.contains(0x1B))
            if width >= 40 { #expect(lines.count == 3) }
        }
    }

    @Test func `an error is cut at its start alone`() {
        let error = Table.cell(ofError: "make: " + String(repeating: "x", count: 70) + " no rule", isCut: true)
        for width in [60, 40] {
            var text: [UInt8] = []
            var layout = Table.Layout(
                [["run", "error"], ["1", error]], left: ["error"], ends: ["error"], width: width, style: .plain)
            layout.append([["1", error]], to: &text)
            let line = String(decoding: text, as: UTF8.self).split(separator: "\n")[1]
            #expect(line.hasPrefix("1    …x") && line.hasSuffix("x no rule") && line.count == width, "\(line)")
        }
    }

    @Test func `reports fit the terminal`() throws {
        let trace = (0..<300).map { "{\"at\":\($0 * $0),\"key\":\"a key with quite a long name number \($0 % 7)\"}\n" }
        for width in [120, 80, 60, 40, 24] {
            for options in [
                ["simulate", "--wait", "30m", "--diagram"], ["tune", "--diagram", "--by-key", "--waits", "1ms..5h"],
                ["tune", "--target-saving", "100%"],
            ] {
                let outcome = try lull(
                    options + ["-"], input: Array(trace.joined().utf8), environment: ["COLUMNS": "\(width)"])
                #expect(outcome.ending == 0)
                #expect(
                    outcome.lines.allSatisfy { $0.count <= width }, "\(width) \(options): \(outcome.lines)")
            }
        }
    }

    @Test func `durations from a minute on have two units`() {
        func rounded(_ seconds: Int64) -> String { DurationText.rounded(seconds * 1_000_000_000) }
        let texts: [(Int64, String)] = [
            (59, "59s"), (60, "1m"), (90, "1m30s"), (999, "16m39s"), (3590, "59m50s"), (3600, "1h"), (7199, "2h"),
            (40_464, "11h14m"), (86_399, "1d"), (172_799, "2d"), (216_000, "2d12h"), (9_140_000, "106d"),
        ]
        for (seconds, text) in texts { #expect(rounded(seconds) == text) }
        #expect(DurationText.rounded(59_960_000_000) == "1m")
        #expect(DurationText.rounded(59_940_000_000) == "59.9s")
        #expect(DurationText.rounded(Int64.max) == "106752d")
        #expect(DurationText.exact(.seconds(90)) == "1m30s")
        #expect(DurationText.exact(.seconds(90_061)) == "90061s")
        #expect(DurationText.exact(.milliseconds(90_500)) == "90.5s")
        #expect(DurationText.exact(.seconds(7200)) == "2h")
    }
}
