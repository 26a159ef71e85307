import CLullCommand
import Foundation
import TestSupport
import Testing

@testable import LullCommand

/// What the command prints, as files: a change there is a change of what users see, to be made deliberately. `UPDATE=1`
/// writes the files.
@Suite("What the command prints", .ownThreads)
struct GoldenTests {
    /// Compares a text with a file of the folder Goldens.
    private func compare(_ text: String, with name: String) throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Goldens/\(name)")
        if ProcessInfo.processInfo.environment["UPDATE"] != nil {
            try Data(text.utf8).write(to: file)
        }
        let expected = try String(contentsOf: file, encoding: .utf8)
        let (lines, others) = (text.split(separator: "\n"), expected.split(separator: "\n"))
        let first = zip(lines, others).first { $0 != $1 }
        #expect(text == expected, "\(name): \(first.map { "\"\($0)\" was \"\($1)\"" } ?? "one is longer")")
    }

    /// Returns what commands print, each after its line.
    private func transcript(_ commands: [[String]], _ run: ([String]) throws -> ToolProcess.Outcome) throws -> String {
        try commands.map { words in
            let outcome = try run(words)
            let status = outcome.ending == 0 ? "" : "[\(outcome.ending)]\n"
            return "$ lull \(words.joined(separator: " "))\n\(outcome.output)\(outcome.errors)\(status)"
        }.joined(separator: "\n")
    }

    @Test func `help is that of the file`() throws {
        let pages = [["--help"]] + Help.pages.map { [$0, "--help"] }
        try compare(transcript(pages) { try lull($0, input: []) }, with: "help.txt")
    }

    @Test func `the manual is that of the file`() throws {
        let pages = [["man"]] + Help.pages.map { ["man", $0] }
        try compare(transcript(pages) { try lull($0, input: []) }, with: "manual.txt")
    }

    @Test(arguments: Completions.shells)
    func `completions are those of the file`(_ shell: String) throws {
        try compare(lull(["completions", shell], input: []).output, with: "completions.\(shell)")
    }

    @Test func `a status is that of the file`() throws {
        let store = try TestStore()
        _ = try store.run("submit --namespace mails --throttle 90s --edges trailing a 1")
        _ = try store.run("submit --namespace mails b 1")
        _ = try store.run(
            "run --namespace hooks --wait 0 --max-attempts 1 --at-end flush", ["--", "false"], input: "x\n")
        let commands = ["status", "status --json", "status --format openmetrics", "status --fail-if dead>0,pending>1"]
        try compare(
            transcript(commands.map { $0.split(separator: " ").map(String.init) }) {
                try store.run($0[0], Array($0.dropFirst()))
            }, with: "status.txt")
    }

    @Test func `wrong usage is that of the file`() throws {
        let commands = """
            frobnicate
            filtre
            --wait 1s
            filter
            filter --wait 5
            filter --wait 1s --throttle 1s
            filter --throttle 1s --max-wait 2s
            filter --throttle 1s --delay-rule extend
            filter --throttle 1s --spacing 2s
            filter --wait 1s --max-batch 2
            filter --wait 1s --key-field 1 --key-json /a
            filter --wait 1s --delay-field 1 --delay-json /a
            filter --wait 1s --delimiter ,
            filter --wait 1s --record-values
            filter --wait 1s --hash-keys
            filter --wait 1s --namespace n
            filter --wait 1s --patience 1s
            filter --wait 1s --lease 3s
            filter --wait 1s --max-attempts 3
            filter --wait 1s --change-policy
            filter --wait 1s --at-end keep
            filter --wait 1s --store sqlite:x --max-keys 3
            filter --wait 1s --edges rising
            filter --wait 1s --format json
            filter --wait
            filter --wait 1s --strict=yes
            filter --wait 1s --m 2
            filter --wait 1s --jobs 2
            filter --wiat 1s
            run --wait 1s
            run --wait 1s --store sqlite:x --while-running skip -- true
            run --wait 1s --combine collect --while-running cancel -- true
            simulate --wait 1s
            tune --throttle 1s -
            tune --waits 5s..1s -
            tune --target-saving 90 -
            submit
            submit --store x k
            status
            status --store sqlite:x --watch --fail-if dead>0
            status --store sqlite:x --watch --format openmetrics
            status --store sqlite:x --format json
            status --store sqlite:x --fail-if age>1
            list --format json
            dead
            dead --store sqlite:x list --all
            forget --store sqlite:x
            compact --store postgres://app@db/shop
            schema
            completions
            man frobnicate
            help dead it
            """.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        try compare(transcript(commands) { try lull($0, input: []) }, with: "usage.txt")
    }
}
