import CLullCommand
import Foundation
import TestSupport
import Testing

@testable import LullCommand

@Suite("Usage", .ownThreads)
struct UsageTests {
    @Test(arguments: [
        ["--help"], ["-h"], ["help"], ["help", "help"], ["help", "-h"], ["filter", "--wait", "1s", "-h"],
    ])
    func `help is on standard output`(_ arguments: [String]) throws {
        let outcome = try lull(arguments, input: [])
        #expect(outcome.ending == 0)
        #expect(outcome.errors == "")
        #expect(outcome.lines.count > 10)
        #expect(outcome.lines.allSatisfy { $0.count <= 80 }, "\(outcome.lines.filter { $0.count > 80 })")
    }

    @Test(arguments: Help.pages)
    func `every form of help shows the page of the command`(_ name: String) throws {
        let page = try Help.page(named: name).text()
        #expect(page.hasPrefix("Usage: lull \(name)"))
        for arguments in [[name, "--help"], [name, "-h"], ["help", name]] {
            let outcome = try lull(arguments, input: [])
            #expect(outcome.ending == 0)
            #expect(outcome.output == page)
            #expect(outcome.lines.allSatisfy { $0.count <= 80 }, "\(outcome.lines.filter { $0.count > 80 })")
        }
    }

    @Test(arguments: ["list", "retry", "discard"])
    func `help for a keyword shows the page of its command`(_ word: String) throws {
        #expect(try lull("help", "dead", word).output == Help.page(named: "dead").text())
    }

    @Test(arguments: ["--version", "-V"])
    func `version is one line`(_ option: String) throws {
        let outcome = try lull(option)
        #expect(outcome.ending == 0)
        #expect(outcome.lines.count == 1 && outcome.output.hasPrefix("lull "))
    }

    @Test func `help fits a terminal of 24 lines`() throws {
        let outcome = try lull("--help")
        #expect(outcome.lines.count <= 22)
        for name in ["filter", "run", "simulate", "tune"] { #expect(outcome.output.contains("  lull \(name) ")) }
        #expect(outcome.output.contains("Store commands: lull help store"))
    }

    @Test(arguments: ["--help", "help", "help filter", "tune --help", "filter --help", "help store"])
    func `help stands out where colour is wanted`(_ words: String) throws {
        let words = words.split(separator: " ").map(String.init)
        let plain = try lull(words, input: [])
        for colour in [["--color", "always"], ["--color=always"]] {
            let outcome = try lull(words + colour, input: [])
            #expect(outcome.ending == 0)
            #expect(outcome.output.contains("\u{1B}[1m"))
            #expect(outcome.output.replacing("\u{1B}[1m", with: "").replacing("\u{1B}[0m", with: "") == plain.output)
        }
        #expect(try lull(words + ["--color", "never"], input: []).output == plain.output)
    }

    @Test func `help for stores names every command that needs one`() throws {
        let outcome = try lull("help", "store")
        #expect(outcome.ending == 0)
        #expect(outcome.lines.allSatisfy { $0.count <= 80 })
        for subcommand in Subcommand.allCases {
            let isNamed = outcome.output.contains("  lull \(subcommand.rawValue) ")
            if !subcommand.canDoWithoutStore { #expect(isNamed, "\(subcommand)") }
        }
    }

    @Test func `version names the engines or says what is missing`() throws {
        let outcome = try lull("version")
        #expect(outcome.ending == 0)
        #expect(outcome.lines.first == "lull \(Help.version)")
        #expect(outcome.lines.count == 5 && outcome.errors == "")
        #expect(outcome.lines[1].wholeMatch(of: /SQLite 3\.[0-9.]+/) != nil)
        #expect(outcome.lines[2].contains("libpq ") && outcome.lines[3].contains("hiredis "))
        #expect(outcome.lines[4].contains("libmicrohttpd"))
        #expect(try lull("version", "x").errors == "lull: unexpected argument x (see lull --help)\n")
    }

    @Test(arguments: [("jsonl", "tune "), ("db", "status --store sqlite:"), ("log", "filter --wait 500ms < ")])
    func `a file in place of a command is answered with the command for it`(_ ending: String, _ command: String) throws
    {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).\(ending)").path
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        defer { unlink(path) }
        let outcome = try lull(path)
        #expect(outcome.ending == 64)
        let hint = "\(path) is a file, not a command: try lull \(command)\(path)"
        #expect(outcome.errors == "lull: \(hint) (see lull --help)\n")
    }

    @Test func `without a command usage is on standard error`() throws {
        let outcome = try lull([], input: [])
        #expect(outcome.ending == 64)
        #expect(outcome.output == "")
        #expect(outcome.errors.hasPrefix("lull: no command was given\n"))
        #expect(outcome.errors.contains("Usage:"))
    }

    // MARK: - Mistyped names

    @Test(arguments: [
        ("filtre", "unknown command 'filtre': did you mean 'filter'?"),
        ("lsit", "unknown command 'lsit': did you mean 'list'?"),
        ("frobnicate", "unknown command 'frobnicate'"), ("", "unknown command ''"),
        ("help filtre", "unknown command 'filtre': did you mean 'filter'?"),
        ("man filtre", "unknown command 'filtre': did you mean 'filter'?"),
        ("help run it", "unexpected argument it"),
        ("help dead it", "unexpected argument it"),
        ("verison", "unknown command 'verison': did you mean 'version'?"),
        ("store", "unknown command 'store': did you mean 'lull help store'?"),
        ("/dev/null", "/dev/null is a file, not a command: try lull filter --wait 500ms < /dev/null"),
        ("retry", "unknown command 'retry': did you mean 'lull dead retry'?"),
        ("/dev", "unknown command '/dev'"),
        ("--frobnicate", "unknown option --frobnicate"), ("-x", "unknown option -x"),
        ("--hlep", "unknown option --hlep: did you mean --help?"),
        ("--wait=1s", "--wait comes after a command, as in lull filter --wait"),
    ])
    func `an unknown command is one line with the nearest name`(_ arguments: String, _ message: String) throws {
        let words = arguments.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let outcome = try lull(words, input: [])
        #expect(outcome.ending == 64)
        #expect(outcome.output == "")
        #expect(outcome.errors == "lull: \(message) (see lull --help)\n")
    }

    @Test(arguments: [
        ("filter", "filter", 0), ("filtre", "filter", 1), ("fliter", "filter", 1), ("filer", "filter", 1),
        ("filterr", "filter", 1), ("filler", "filter", 1), ("", "run", 3), ("run", "", 3), ("abc", "xyz", 3),
        ("ab", "ba", 1), ("kitten", "sitting", 3),
    ])
    func `edit distances are counted`(_ one: String, _ other: String, _ distance: Int) {
        #expect(SpellingCorrection.distance(one, other) == distance)
    }

    @Test func `distant names are not suggested`() {
        #expect(SpellingCorrection.nearest(to: "rnu", among: Help.commands) == "run")
        #expect(SpellingCorrection.nearest(to: "xxx", among: Help.commands) == nil)
        #expect(SpellingCorrection.nearest(to: "x", among: Help.commands) == nil)
    }

    // MARK: - Wrong usage

    @Test(arguments: [
        ("filter", "--wait or --throttle"), ("filter", "give a quiet period with --wait"),
        ("filter --wait 1s --throttle 1s", "--wait and --throttle exclude each other"),
        ("filter --throttle 1s --max-wait 2s", "--max-wait has no meaning with --throttle"),
        ("filter --throttle 1s --delay-rule extend", "--delay-rule has no meaning with --throttle"),
        ("filter --wait 2s --max-wait 1s", "--max-wait is 1s, but must be at least the --wait of 2s"),
        ("filter --wait 1s --edges leading --max-count 3", "--max-count needs the trailing edge"),
        ("filter --throttle 1s --edges leading --max-count 3", "--max-count needs the trailing edge"),
        ("filter --throttle 1s --spacing 2s", "--spacing has no meaning with --throttle"),
        ("filter --wait 1s --edges leading --spacing 3s", "--spacing needs the trailing edge"),
        ("run --wait 1s --edges leading --spacing 3s -- true", "--spacing needs the trailing edge"),
        ("simulate --wait 1s --spacing 5 -", "--spacing: \"5\" has no unit: write 5s or 5ms"),
        ("tune --spacing 1s --edges leading -", "--spacing needs the trailing edge"),
        ("tune --spacing 1s --max-wait 1ms -", "--max-wait is shorter than all waits of the table"),
        ("filter --wait 5", "--wait: \"5\" has no unit: write 5s or 5ms"),
        ("filter --wait=-1s", "--wait: \"-1s\" is negative"),
        ("filter --wait soon", "--wait: \"soon\" is not a duration"), ("filter --wait", "--wait needs a value"),
        ("filter --wait 1s --strict=yes", "--strict takes no value"),
        ("filter --wait 1s --max-count 0", "--max-count must be a whole number"),
        ("filter --wait 1s --max-count 1.5", "not \"1.5\""),
        ("filter --wait 1s --max-count 99999999999999999999", "--max-count"),
        ("filter --wait 1s --edges rising", "--edges must be leading, trailing or both, not \"rising\""),
        ("filter --wait 1s --edges=", "--edges"),
        ("filter --wait 1s --edges leading,", "--edges"),
        ("filter --wait 1s --edges leading,both", "--edges must be leading or trailing, not \"both\""),
        ("submit --store sqlite:x -key", "a KEY that begins with - comes after --, such as: lull submit … -- -key"),
        ("submit --store sqlite:x --lamp", "a KEY that begins with - comes after --"),
        ("filter --wait 1s --combine last", "--combine must be latest, first, collect or merge-json"),
        ("filter --wait 1s --max-batch 3", "--max-batch needs --combine collect"),
        ("run --throttle 1s --combine latest --max-batch 3 -- true", "--max-batch needs --combine collect"),
        ("simulate --wait 1s --combine first --max-batch 3 -", "--max-batch needs --combine collect"),
        ("filter --wait 1s --combine collect --max-batch 0", "--max-batch must be a whole number of at least 1"),
        ("tune --max-batch 3 -", "lull tune has no option --max-batch; lull filter has one"),
        (
            "run --wait 1s --combine collect --while-running cancel -- true",
            "--while-running cancel would lose values of --combine collect: use --while-running restart, or "
                + "--combine latest"
        ),
        ("filter --wait 1s --format json", "--format must be lines or jsonl"),
        ("filter --wait 1s --at-end never", "--at-end must be"),
        ("filter --wait 1s --key-field 0", "--key-field must be a whole number of at least 1: the first field is 1"),
        ("filter --wait 1s --delimiter ,", "--delimiter needs --key-field or --after-field"),
        ("filter --wait 1s --after-json /a --delimiter ,", "--delimiter needs --key-field or --after-field"),
        ("filter --wait 1s --after-field 1 --after-json /a", "--after-field and --after-json exclude each other"),
        ("filter --wait 1s --after-field 0", "--after-field must be a whole number of at least 1"),
        ("run --wait 1s --after-json a -- true", "--after-json: \"a\" is not a JSON pointer"),
        ("simulate --wait 1s --after-field 1 -", "lull simulate has no option --after-field; lull filter has one"),
        ("filter --wait 1s --key-field 1 --delimiter ab", "--delimiter must be one character"),
        ("filter --wait 1s --key-field 1 --key-json /a", "--key-field and --key-json exclude each other"),
        ("filter --wait 1s --key-json a", "is not a JSON pointer"), ("filter --wait 1s --max-keys 0", "--max-keys"),
        ("filter --wait 1s --frobnicate", "lull filter has no option --frobnicate"),
        ("filter --wiat 1s", "lull filter has no option --wiat: did you mean --wait?"),
        ("filter --maxwait=1s", "lull filter has no option --maxwait: did you mean --max-wait?"),
        ("filter --wat 1s", "lull filter has no option --wat: did you mean --wait?"),
        // What begins like another command's option points to none.
        ("serve --wat", "lull serve has no option --wat (see"),
        ("submit --tokn x", "lull submit has no option --tokn: did you mean --token?"),
        ("filter --wait 1s -x", "there is no option -x"),
        ("filter --wait 1s --jobs 2", "lull filter has no option --jobs; lull run has one"),
        ("filter --wait 1s --m 2", "--m could be --max-wait or --max-count"),
        ("filter --wait 1s file", "unexpected argument file"),
        ("run --wait 1s", "COMMAND is missing"), ("run --wait 1s --", "COMMAND is missing"),
        ("run --wait 1s --jobs 0 -- true", "--jobs"),
        (
            "run --wait 1s --while-running wait -- true",
            "--while-running must be queue, cancel, restart, concurrent or skip"
        ),
        ("run --wait 1s --format jsonl -- true", "lull run has no option --format"),
        ("run --kill-after 5 -- true", "--kill-after"),
        ("simulate --wait 1s", "TRACE is missing"), ("simulate --wait 1s a b", "unexpected argument b"),
        ("simulate --wait 1s --format lines -", "--format must be summary, jsonl or json"),
        ("simulate --wait 1s --null -", "--null"),
        ("filter --wait 1s --record-values", "--record-values needs --record"),
        ("filter --wait 1s --hash-keys", "--hash-keys needs --record"),
        ("filter --wait 1s --patience 1s", "--patience needs --store"),
        ("submit --store x k", "--store must be sqlite:PATH, postgres://USER@HOST/DATABASE or redis://HOST/DATABASE"),
        ("status", "--store is missing: give it as sqlite:PATH, postgres://"),
        ("status --store sqlite:x --watch --fail-if dead>0", "--watch and --fail-if exclude each other"),
        ("schema", "--store is missing: give it as postgres://USER@HOST/DATABASE"),
    ])
    func `wrong usage is one line`(_ arguments: String, _ message: String) throws {
        let arguments = arguments.split(separator: " ").map(String.init)
        let outcome = try lull(arguments, input: [])
        #expect(outcome.ending == 64)
        #expect(outcome.output == "")
        #expect(outcome.errorLines.count == 1)
        #expect(outcome.errors.hasPrefix("lull: "))
        if message != "--wait or --throttle" { #expect(outcome.errors.contains(message), "\(outcome.errors)") }
        #expect(outcome.errors.contains("(see lull \(arguments[0]) --help)"))
    }

    @Test func `values may follow an equals sign`() throws {
        #expect(
            try lull("filter", "--wait=1s", "--key-field=1", "--delimiter=,", input: "a,1\na,2\n").output == "a,2\n")
    }

    @Test func `control characters in arguments do not reach the terminal`() throws {
        let outcome = try lull("filter", "--wait", "\u{1B}[31m\n")
        #expect(outcome.errorLines.count == 1)
        #expect(!outcome.errors.contains("\u{1B}"))
    }

    @Test func `read and write errors end with 74`() throws {
        let directory = try ToolProcess(["filter", "--wait", "1s"], input: .file("/", O_RDONLY)).finish()
        #expect(directory.ending == 74)
        #expect(directory.errorLines.count == 1 && directory.errors.hasPrefix("lull: cannot read: "))
        let closed = try ToolProcess(["filter", "--wait", "1s"], input: .closed).finish()
        #expect(closed.ending == 74)
        let missing = try lull("simulate", "--wait", "1s", "/nonexistent/trace")
        #expect(missing.ending == 74)
        #expect(missing.errors.hasPrefix("lull: /nonexistent/trace: "))
        let trace = try lull("simulate", "--wait", "1s", "/")
        #expect(trace.ending == 74)
        #expect(trace.errors.hasPrefix("lull: /: cannot read: "))
    }

    #if os(Linux)
        @Test func `a full disk ends with 74`() throws {
            let input = try TemporaryFile("{\"at\":1}\n")
            for arguments in [
                ["filter", "--wait", "1s"], ["--help"], ["simulate", "--wait", "1s", "-"],
                ["simulate", "--wait", "1s", "--format", "jsonl", "-"],
            ] {
                let process = try ToolProcess(
                    arguments, input: .file(input.path, O_RDONLY), output: .file("/dev/full", O_WRONLY))
                let outcome = try process.finish()
                #expect(outcome.ending == 74, "\(arguments)")
                #expect(outcome.errors == "lull: cannot write: No space left on device\n", "\(arguments)")
            }
        }
    #endif

    @Test func `closed standard descriptors fail when used`() throws {
        let input = try TemporaryFile("a\n")
        let process = try ToolProcess(["filter", "--wait", "1s"], input: .file(input.path, O_RDONLY), output: .closed)
        #expect(try process.finish().ending == 74)
        let silent = try ToolProcess(
            ["filter", "--wait", "1s", "--stats"], input: .file(input.path, O_RDONLY), errors: .closed)
        let outcome = try silent.finish()
        #expect(outcome.ending == 0)
        #expect(outcome.output == "a\n")
    }

    @Test(arguments: ["token", "namespace", "store"])
    func `invalid UTF-8 is refused, not repaired`(_ option: String) {
        // Two such names would become the same, and one submit would count as the repetition of another.
        let words: [[UInt8]] = [Array("submit".utf8), Array("--\(option)".utf8), [0xFF], Array("key".utf8)]
        let refusal = CStrings.with(words) { strings in
            Result { () throws(Failure) in try Invocation(.submit, strings.compactMap { $0 }).operands.count }
        }
        #expect(refusal == .failure(.usage("--\(option) must be UTF-8", .submit)))
    }
}
