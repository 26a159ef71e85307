import Foundation
import TestSupport
import Testing

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// The pictures of `lull simulate` and `lull tune`.
@Suite("Pictures", .ownThreads)
struct PictureTests {
    @Test func `a diagram shows submits and executions`() throws {
        let outcome = try lull(
            ["simulate", "--wait", "300ms", "--diagram", "-"], input: Array(submits(at: [0, 0.1, 0.2, 2]).utf8))
        #expect(
            outcome.lines.suffix(4) == [
                #"key "k" from 0s on; a column is 38.2ms"#,
                "submits         o..o..o..............................................o..........",
                "debounce 300ms  -------------x.......................................--------x..",
                "(o: 1 submit; -: a value waits; x: an execution; .: nothing)",
            ])
    }

    @Test func `a diagram shows when handlers run, and where they are cut off`() throws {
        let trace = submits(at: [0, 1, 5])
        func rows(_ options: String) throws -> [String] {
            let all = "simulate --wait 2s --run-time 10s --while-running \(options) --diagram -"
            return try lull(all.split(separator: " ").map(String.init), input: Array(trace.utf8)).lines.suffix(6)
        }
        #expect(
            try rows("restart --combine collect").suffix(5) == [
                "submits      o...o..............o...............................................",
                "debounce 2s  ------------x......-------x........................................",
                "handler      ............[============/[===================================]....",
                "(o: 1 submit; -: a value waits; x: a value is due; [=]: it runs; /: it is",
                "interrupted or cancelled; .: nothing)",
            ])
        // Two at once are below each other.
        #expect(
            try rows("concurrent").suffix(3) == [
                "handler      ............[===================================]..................",
                "             ..........................[===================================]....",
                "(o: 1 submit; -: a value waits; x: a value is due; [=]: it runs; .: nothing)",
            ])
    }

    @Test func `a picture shows when handlers run, and where they are cut off`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).svg")
        defer { try? FileManager.default.removeItem(at: path) }
        for (rule, says) in [
            ("queue", "2 executions, 0 of them"), ("restart", "2 executions, 1 of them"),
            ("skip", "1 executions, 0 of them"),
        ] {
            let options = ["--wait", "2s", "--run-time", "10s", "--while-running", rule]
            _ = try lull(
                ["simulate"] + options + ["--svg", path.path, "-"], input: Array(submits(at: [0, 1, 5]).utf8))
            let picture = try String(contentsOf: path, encoding: .utf8)
            #expect(XMLParser(data: Data(picture.utf8)).parse())
            #expect(picture.contains(says), "\(rule)")
            #expect(picture.contains("Below it the handler runs"))
        }
    }

    @Test func `a diagram shows values that wait for the spacing`() throws {
        let outcome = try lull(
            ["simulate", "--wait", "100ms", "--spacing", "1s", "--diagram", "-"],
            input: Array(submits(at: [0, 0.3, 0.5, 2]).utf8))
        #expect(
            outcome.lines.suffix(3).dropLast() == [
                "submits         o........o.....o..........................................o.....",
                "debounce 100ms  ---x.....-----------------------x.........................---x..",
            ])
    }

    @Test func `a diagram ends shortly after the last execution`() throws {
        let trace = submits(at: (0..<8).map { Double($0) / 7 })
        for options in [["--throttle", "500ms"], ["--wait", "1s"]] {
            let lines = try lull(["simulate"] + options + ["--diagram", "-"], input: Array(trace.utf8)).lines.suffix(4)
            let marks = lines.map { $0.drop { $0 != " " }.drop { $0 == " " } }
            let executions = marks[2]
            let last = try #require(executions.lastIndex(of: "x"))
            let columns = executions.distance(from: last, to: executions.endIndex)
            #expect(2...20 ~= columns, "\(lines)")
        }
    }

    @Test func `the legend of a diagram lists the marks that occur`() throws {
        func legend(_ options: [String], _ instants: [Double]) throws -> String? {
            try lull(["simulate", "--diagram"] + options + ["-"], input: Array(submits(at: instants).utf8)).lines.last
        }
        #expect(
            try legend(["--throttle", "1s", "--edges", "leading"], [0])
                == "(o: 1 submit; x: an execution; .: nothing)")
        #expect(
            try legend(["--wait", "1s"], [0, 0, 0])
                == "(3: 3 submits; -: a value waits; x: an execution; .: nothing)")
    }

    @Test func `a picture is written to a file`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).svg")
        defer { try? FileManager.default.removeItem(at: path) }
        for command in [["tune"], ["tune", "--spacing", "1s"], ["simulate", "--wait", "100ms"]] {
            let outcome = try lull(command + ["--svg", path.path, "-"], input: Array(bursts.utf8))
            #expect(outcome.ending == 0)
            let picture = try String(contentsOf: path, encoding: .utf8)
            let parser = XMLParser(data: Data(picture.utf8))
            #expect(parser.parse(), "\(String(describing: parser.parserError))")
            #expect(picture.contains("debounce"))
        }
    }

    @Test func `a picture says for which targets its wait is suggested`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).svg")
        defer { try? FileManager.default.removeItem(at: path) }
        for (options, condition) in [
            ([], ""), (["--target-delay", "300ms"], " for a delay of at most 300ms"),
            (
                ["--target-saving", "70%", "--target-delay", "1s"],
                " for a saving of at least 70.0 % and a delay of at most 1s"
            ),
        ] {
            _ = try lull(["tune", "--svg", path.path] + options + ["-"], input: Array(bursts.utf8))
            let picture = try String(contentsOf: path, encoding: .utf8)
            #expect(picture.contains("Ringed: the suggested wait\(condition)."))
        }
    }

    @Test func `the key of a trace without keys is not named`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).svg")
        defer { try? FileManager.default.removeItem(at: path) }
        for (line, part) in [
            ("{\"at\":1}\n", "Part of the trace, from"),
            ("{\"at\":1,\"key\":\"null\"}\n", "of key &quot;null&quot;, from"),
        ] {
            _ = try lull(["simulate", "--wait", "100ms", "--svg", path.path, "-"], input: Array(line.utf8))
            #expect(try String(contentsOf: path, encoding: .utf8).contains(part))
        }
    }

    @Test func `an unwritable picture is an error`() throws {
        let outcome = try lull(["tune", "--svg", "/nowhere/picture.svg", "-"], input: Array(bursts.utf8))
        #expect(outcome.ending == 74)
        #expect(outcome.errors == "lull: /nowhere/picture.svg: No such file or directory\n")
    }
}
