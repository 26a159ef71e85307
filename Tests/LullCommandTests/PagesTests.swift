import CLullCommand
import Foundation
import TestSupport
import Testing

@testable import LullCommand

@Suite("Manual and completions", .ownThreads)
struct PagesTests {
    private static let names = Help.pages

    /// Runs a program that reads what lull writes.
    private func run(_ program: String, _ arguments: [String], input: String = "") throws -> ToolProcess.Outcome {
        let path = try #require(Self.path(of: program), "scripts/install-missing tests installs \(program)")
        let file = try TemporaryFile(input)
        let folder = URL(fileURLWithPath: ToolProcess.path).deletingLastPathComponent().path
        let search = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return try ToolProcess(
            arguments, environment: ["PATH": "\(folder):\(search)"], program: path, input: .file(file.path, O_RDONLY)
        ).finish()
    }

    fileprivate static func path(of program: String) -> String? {
        ["/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin"].map { "\($0)/\(program)" }
            .first { access($0, X_OK) == 0 }
    }

    // MARK: - The overview and the pages

    @Test func `every command is in the overview`() {
        for name in Help.commands { #expect(!Help.summary(of: name).isEmpty, "\(name)") }
    }

    @Test func `every option is explained on each page that has it`() throws {
        for subcommand in Subcommand.allCases {
            let text = try Help.page(named: subcommand.rawValue).text()
            for option in Option.all where option.belongs(to: subcommand) && option.group != .help {
                #expect(text.contains("\(option.spelled)"), "lull \(subcommand.rawValue) \(option.spelled)")
                #expect(!option.explanation(for: subcommand).isEmpty)
            }
        }
    }

    @Test func `a page is its parts as text`() {
        let page = HelpPage(
            "run", "", "", usage: ["lull x FILE", "lull x --all"],
            [
                .text("Does this:"), .literal(["a  b"]), .text(String(repeating: "word ", count: 20) + "end."),
                .heading("How"), .options([.change]),
                .heading("Words"),
                .terms([("one", "the first"), (String(repeating: "x", count: 22), "2")]),
                .examples(["lull x  a"]),
            ])
        #expect(
            page.text() == """
                Usage: lull x FILE
                       lull x --all

                Does this:
                  a  b

                \(Array(repeating: "word", count: 16).joined(separator: " "))
                word word word word end.

                How:
                  --change-policy        change the policy of the namespace for all its users.
                                         Without this option, a policy that differs from it is
                                         an error

                Words:
                  one                    the first
                  xxxxxxxxxxxxxxxxxxxxxx
                                         2

                Example:
                  lull x  a


                """)
    }

    private static let documentation = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../docs/command.md").standardizedFileURL

    /// The tables of the sections say more than help does; their first columns are those of the options.
    @Test func `tables of the documentation name options and values that exist`() throws {
        let text = try String(contentsOf: Self.documentation, encoding: .utf8)
        for line in text.split(separator: "\n") where line.hasPrefix("| `--") {
            for cell in line.dropFirst().prefix(while: { $0 != "|" }).matches(of: /`--([a-z-]+)(?: ([^`]+))?`/) {
                let options = Option.all.filter { "\($0.name)" == cell.1 }
                #expect(!options.isEmpty, "\(line)")
                guard let value = cell.2.map(String.init) else { continue }
                let choices = options.flatMap { option in
                    Subcommand.allCases.flatMap { subcommand -> [String] in
                        if case .choice(let names) = option.completion(subcommand) { names } else { [] }
                    }
                }
                if value.allSatisfy({ $0.isUppercase || $0 == "/" }) {
                    #expect(options.contains { $0.value == value }, "\(line)")
                } else if !choices.isEmpty {
                    #expect(choices.contains(value), "\(line)")
                }
            }
        }
    }

    @Test func `all commands and options are in the documentation`() throws {
        let file = Self.documentation
        let text = try String(contentsOf: file, encoding: .utf8)
        for page in Help.all { #expect(text.contains("\n\(page.line)\n"), "\(page.line)") }
        let (begin, end) = ("<!-- options -->\n", "<!-- end of options -->\n")
        let before = try #require(text.firstRange(of: begin)), after = try #require(text.firstRange(of: end))
        let expected = OptionReference.table
        if ProcessInfo.processInfo.environment["UPDATE"] != nil {
            let new = text[..<before.upperBound] + expected + text[after.lowerBound...]
            try Data(new.utf8).write(to: file)
        } else {
            #expect(text[before.upperBound..<after.lowerBound] == expected, "UPDATE=1 writes it")
        }
    }

    // MARK: - Manual

    @Test func `manual pages have the texts of help`() throws {
        #expect(try lull("man", "--list").lines == Self.names)
        for name in Self.names {
            let page = try lull("man", name)
            #expect(page.ending == 0)
            #expect(page.output.hasPrefix(".TH LULL-\(name.uppercased()) 1 "))
            for section in [".SH NAME\n", ".SH SYNOPSIS\n", ".SH DESCRIPTION\n", ".SH SEE ALSO\n"] {
                #expect(page.output.contains(section), "\(name): \(section)")
            }
            // Every line that starts with a dot must be one of these requests; text must not start with one.
            let requests = Set(page.lines.filter { $0.hasPrefix(".") }.map { $0.split(separator: " ")[0] })
            let known: Set<Substring> = [".TH", ".SH", ".SS", ".PP", ".TP", ".br", ".nf", ".fi", ".ad", ".in"]
            #expect(requests.isSubset(of: known), "\(requests)")
            #expect(page.output.utf8.allSatisfy { $0 < 0x80 })
        }
        let filter = try lull("man", "filter").output
        #expect(
            filter.contains(".TP\n\\fB\\-\\-max\\-keys\\fR \\fIN\\fR\nskip records that would open more than N keys\n"))
        #expect(try lull("man").output.contains("lull filter   OPTION\\[u2026]"))
        #expect(try lull("man", "frobnicate").ending == 64)
    }

    @Test(.installed("mandoc"), arguments: [[]] + Self.names.map { [$0] })
    func `the manual has no mistakes and fits a screen of 80 columns`(_ arguments: [String]) throws {
        let page = try lull(["man"] + arguments, input: []).output
        let complaints = try run("mandoc", ["-Tlint", "-Wwarning"], input: page)
        #expect(complaints.lines.filter { !$0.contains("missing date") } == [])
        // mandoc prints bold characters twice.
        let lines = try run("mandoc", ["-Tutf8", "-Owidth=80"], input: page).lines.map {
            $0.replacing(/.\u{8}/, with: "")
        }
        #expect(lines.filter { $0.count > 80 } == [])
        let name = lines.drop { $0 != "NAME" }.dropFirst().first ?? ""
        #expect(!name.trimmingCharacters(in: .whitespaces).contains("  "), "\(name)")
    }

    /// Help and completions of bash are compared with the table elsewhere in this suite.
    @Test func `every option is on each page of the manual and in each completion`() throws {
        let (zsh, fish) = (try lull("completions", "zsh").output, try lull("completions", "fish").lines)
        #expect(zsh.hasPrefix("#compdef lull\n"))
        #expect(zsh.contains(":edges:(leading trailing both)'"))
        for subcommand in Subcommand.allCases {
            let page = try Manual.make([subcommand.rawValue])
            // From the case of the subcommand to that of the next one.
            let cases = zsh.components(separatedBy: "\n    \(subcommand.rawValue))\n")
            let arguments = cases.last?.components(separatedBy: ";;")[0] ?? ""
            for option in subcommand.options {
                #expect(arguments.contains("\n            '\(option.spelled)"), "zsh: \(subcommand) \(option.spelled)")
                let start =
                    "complete -c lull -n '__fish_seen_subcommand_from \(subcommand.rawValue)' -l \(option.name) "
                #expect(fish.contains { $0.hasPrefix(start) }, "fish: \(subcommand) \(option.spelled)")
                guard option.group != .help else { continue }
                let name = option.spelled.replacing("-", with: "\\-")
                #expect(page.contains("\\fB\(name)\\fR"), "man: \(subcommand) \(option.spelled)")
            }
        }
    }

    // MARK: - Completions

    /// Returns what bash offers for the last of some words, split as bash splits them.
    private func bash(_ words: String...) throws -> [String] {
        let script = """
            source <(lull completions bash)
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _lull 2>/dev/null
            for reply in "${COMPREPLY[@]}"; do echo "$reply"; done
            """
        let outcome = try run("bash", ["-c", script, "bash"] + words)
        #expect(outcome.errors == "")
        return outcome.lines
    }

    @Test func `bash completes commands and options`() throws {
        #expect(try bash("lull", "") == Help.commands + ["--help", "--version"])
        #expect(try bash("lull", "fi") == ["filter"])
        for subcommand in Subcommand.allCases {
            let known = Option.all.filter { $0.belongs(to: subcommand) }.map(\.spelled)
            #expect(try bash("lull", subcommand.rawValue, "--") == known)
        }
        #expect(try bash("lull", "filter", "--wait", "1s", "--ed") == ["--edges"])
    }

    @Test func `bash completes values`() throws {
        #expect(try bash("lull", "filter", "--edges", "") == ["leading", "trailing", "both"])
        #expect(try bash("lull", "filter", "--edges", "=", "b") == ["both"])
        #expect(try bash("lull", "filter", "--edges", "=") == ["leading", "trailing", "both"])
        #expect(try bash("lull", "simulate", "--format", "j") == ["jsonl", "json"])
        #expect(try bash("lull", "run", "--while-running", "c") == ["cancel", "concurrent"])
        #expect(try bash("lull", "filter", "--wait", "") == [])
        #expect(try bash("lull", "dead", "r") == ["retry"])
        #expect(try bash("lull", "completions", "") == ["bash", "zsh", "fish"])
        for command in ["man", "help"] { #expect(try bash("lull", command, "") == Help.pages) }
    }

    @Test func `bash completes files, stores and programs`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("lull \(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/a trace.jsonl"
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        #expect(try bash("lull", "simulate", folder + "/a") == [path])
        #expect(try bash("lull", "tune", "--svg", folder + "/") == [path])
        #expect(try bash("lull", "status", "--store", "") == ["sqlite:", "postgres://", "redis://"])
        #expect(try bash("lull", "status", "--store", "s") == ["sqlite:"])
        #expect(try bash("lull", "status", "--store", "sqlite", ":", folder + "/a") == [path])
        // The files that belong to a store are not offered as stores.
        for name in ["x.db", "x.db-wal", "x.db-shm", "x.db-want", "x.db-write", "y-write"] {
            #expect(FileManager.default.createFile(atPath: "\(folder)/\(name)", contents: nil))
        }
        #expect(try bash("lull", "status", "--store", "sqlite", ":", folder + "/x") == [folder + "/x.db"])
        #expect(try bash("lull", "status", "--store", "sqlite", ":", folder + "/y") == [folder + "/y-write"])
        #expect(try bash("lull", "run", "--wait", "1s", "--", "bas").contains("bash"))
        #expect(try bash("lull", "run", "--wait", "1s", "--", "cat", folder + "/a") == [path])
    }

    @Test(.installed("zsh"), arguments: ["bash", "zsh"])
    func `shells accept their scripts`(_ shell: String) throws {
        let file = try TemporaryFile(lull("completions", shell).output)
        let outcome = try run(shell, ["-n", file.path])
        #expect(outcome.errors == "" && outcome.ending == 0)
    }

    @Test(.installed("fish")) func `fish accepts its script and completes values of options`() throws {
        let file = try TemporaryFile(lull("completions", "fish").output)
        #expect(try run("fish", ["--no-config", "-n", file.path]).ending == 0)
        let script = "source \(file.path); complete -C 'lull filter --edges '"
        let outcome = try run("fish", ["--no-config", "-c", script])
        #expect(outcome.lines.compactMap { $0.split(separator: "\t").first } == ["both", "leading", "trailing"])
    }

    @Test func `unknown shells are refused`() throws {
        for arguments in [["completions"], ["completions", "tcsh"], ["completions", "bash", "zsh"]] {
            let outcome = try lull(arguments, input: [])
            #expect(outcome.ending == 64)
            #expect(
                outcome.errors == "lull: the shell is missing: lull completions bash, zsh or fish (see lull --help)\n")
        }
    }

    // MARK: - Installing

    /// The services of systemd.
    private static var services: [String] {
        #if os(Linux)
            ["lib/systemd/system/lull-serve.service", "lib/systemd/system/lull-work@.service"]
        #else
            []
        #endif
    }

    @Test func `everything is installed where it is searched`() throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("lull-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: root) }
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../scripts/install").standardizedFileURL.path
        let environment = ["DESTDIR": root, "PREFIX": "/usr", "BINARY": ToolProcess.path]
        let installed = try ToolProcess([script], environment: environment, program: "/bin/bash").finish()
        #expect(installed.ending == 0, "\(installed.errors)")
        let expected =
            ["bin/lull", "share/man/man1/lull.1"] + Self.names.map { "share/man/man1/lull-\($0).1" } + [
                "share/bash-completion/completions/lull", "share/zsh/site-functions/_lull",
                "share/fish/vendor_completions.d/lull.fish",
            ] + Self.services
        #expect(installed.lines == expected.map { "\(root)/usr/\($0)" })
        for path in installed.lines { #expect(access(path, path.hasSuffix("bin/lull") ? X_OK : R_OK) == 0, "\(path)") }
        for service in Self.services {
            let text = try String(contentsOfFile: "\(root)/usr/\(service)", encoding: .utf8)
            #expect(text.contains("\nExecStart=/usr/bin/lull "), "\(service)")
        }
        let removed = try ToolProcess([script, "--remove"], environment: environment, program: "/bin/bash").finish()
        #expect(removed.ending == 0)
        for path in installed.lines { #expect(access(path, F_OK) != 0, "\(path)") }
    }
}

extension Trait where Self == ConditionTrait {
    /// Leaves a test out where a program is not installed that reads what lull writes: but not in continuous
    /// integration, where it then fails.
    fileprivate static func installed(_ program: String) -> Self {
        .enabled(
            if: ProcessInfo.processInfo.environment["CI"] != nil || PagesTests.path(of: program) != nil,
            "\(program) is not installed: scripts/install-missing tests installs it")
    }
}
