import CLullCommand
import Foundation
import TestSupport
import Testing

@Suite("lull run", .ownThreads)
struct RunTests {
    private func run(_ options: String, _ command: String..., input: String) throws -> ToolProcess.Outcome {
        let arguments = ["run"] + options.split(separator: " ").map(String.init) + ["--"] + command
        return try lull(arguments, input: Array(input.utf8))
    }

    private func start(_ options: String, _ command: String...) throws -> ToolProcess {
        try ToolProcess(["run"] + options.split(separator: " ").map(String.init) + ["--"] + command)
    }

    // MARK: - Input and environment of a command

    @Test func `arguments, environment and input describe the execution`() throws {
        let script = #"printf '<%s>' "$@" "$LULL_KEY" "$LULL_COUNT" "$LULL_EDGE"; cat"#
        let outcome = try run(
            "--wait 1h --key-field 1 --jobs 1", "sh", "-c", script, "x", "{key}", "{value}", "-{count}-{edge}", "",
            "{other} *",
            input: "a 1\nb  $(2)\na '3'\n")
        #expect(outcome.ending == 0)
        #expect(outcome.errors == "")
        #expect(
            outcome.lines == [
                "<a><a '3'><-2-flush><><{other} *><a><2><flush>a '3'",
                "<b><b  $(2)><-1-flush><><{other} *><b><1><flush>b  $(2)",
            ])
    }

    @Test func `doubled braces are a literal placeholder`() throws {
        let outcome = try run(
            "--wait 1h --key-field 1", "printf", "%s,", "{{key}}", "{{value}} {value}", "{{{count}}}", "{{other}}",
            "{{edge}",
            "{key}}", input: "a\n")
        #expect(outcome.output == "{key},{value} a,{{count}},{{other}},{flush,a},")
    }

    @Test func `all records of an execution are on its input`() throws {
        #expect(try run("--wait 1h --combine collect", "cat", input: "1\n\n2").output == "1\n\n2\n")
        #expect(try run("--wait 1h --combine collect --null", "cat", input: "1\0\n\0").output == "1\0\n\0")
        #expect(try run("--wait 1h --combine collect", "echo", "{value} {count}", input: "1\n2\n").output == "2 2\n")
        #expect(try run("--wait 1h --combine first", "cat", input: "1\n2\n").output == "1\n")
    }

    @Test func `a string key is passed as its content and others as text`() throws {
        let input = "{\"k\":\"a b\"}\n{\"k\":[1, 2]}\n{\"k\":null}\n"
        let outcome = try run(
            "--wait 1h --key-json /k --jobs 1", "sh", "-c", #"echo "$0=$LULL_KEY""#, "{key}", input: input)
        #expect(outcome.lines == ["a b=a b", "[1,2]=[1,2]", "null=null"])
        #expect(try run("--wait 1h", "sh", "-c", #"echo "<$0$LULL_KEY>""#, "{key}", input: "x\n").output == "<>\n")
    }

    @Test func `much input never deadlocks`() throws {
        let input = (0..<60_000).map { "record number \($0)\n" }.joined()
        #expect(try run("--wait 1h --combine collect", "cat", input: input).output == input)
        // A command that reads none of its input, or only a part, is no error.
        for command in [["true"], ["head", "-c", "1"], ["sh", "-c", "exec <&-; seq 100000 >/dev/null"]] {
            let outcome = try lull(
                ["run", "--wait", "1h", "--combine", "collect", "--"] + command, input: Array(input.utf8))
            #expect(outcome.ending == 0, "\(command)")
            #expect(outcome.errors == "", "\(command)")
        }
    }

    @Test func `commands have default signal actions`() throws {
        // If SIGPIPE were ignored, yes would complain.
        let outcome = try run("--wait 1h", "sh", "-c", "yes | head -n 1; kill -s PIPE $$; echo unreached", input: "x\n")
        #expect(outcome.output == "y\n")
        #expect(outcome.errors == "lull: sh was terminated by signal 13\n")
        #expect(outcome.ending == 1)
    }

    #if os(Linux)
        @Test func `commands inherit no descriptors`() throws {
            let outcome = try run("--wait 1h --key-field 1 --jobs 1", "ls", "/proc/self/fd", input: "a\nb\nc\n")
            // The last descriptor is that of the directory that ls reads.
            #expect(outcome.lines == ["0", "1", "2", "3", "0", "1", "2", "3", "0", "1", "2", "3"])
        }
    #endif

    @Test func `a value that cannot be an argument fails with a hint`() throws {
        let hint = "let the command read the records from its standard input"
        let null = try run("--wait 1h", "echo", "{value}", input: "a\0b\n")
        #expect(null.ending == 1)
        #expect(null.output == "")
        #expect(
            null.errors
                == "lull: echo was not started: a NUL byte cannot be in an argument or in the environment; \(hint)\n")
        let long = String(repeating: "x", count: 4 << 20)
        let tooLong = try run("--wait 1h --stats", "echo", "{value}", input: long + "\n")
        #expect(tooLong.ending == 1)
        #expect(tooLong.errorLines.first == "lull: echo was not started: the arguments are too long; \(hint)")
        #expect(tooLong.errors.contains("failed 1"))
        #expect(try run("--wait 1h", "wc", "-c", input: long + "\n").output.contains("\(4 << 20 + 1)") == true)
    }

    // MARK: - Failures that end the program

    @Test func `a missing command ends the program at the start`() throws {
        let file = try TemporaryFile("#!/bin/sh\n")
        for (command, ending, message) in [
            ("no-such-command", 127, "no-such-command: command not found"),
            ("/no/such", 127, "/no/such: command not found"),
            ("", 127, "COMMAND is empty"), (file.path, 126, "\(file.path): cannot be executed: Permission denied"),
            ("/", 126, "/: cannot be executed: Is a directory"),
            (file.path + "/x", 127, "\(file.path)/x: command not found"),
        ] {
            // The input stays open: the program ends at the start.
            let process = try ToolProcess(["run", "--wait", "1h", "--", command])
            let outcome = try process.end()
            #expect(outcome.ending == Int32(ending), "\(command)")
            #expect(try process.errorLine() == "lull: \(message)")
        }
    }

    @Test func `a command is found as by a shell`() throws {
        let file = try TemporaryFile("#!/bin/sh\necho \"$0\"\n", executable: true)
        let url = URL(fileURLWithPath: file.path)
        let path = "/nonexistent:\(url.deletingLastPathComponent().path):/bin:/usr/bin"
        let outcome = try lull(
            ["run", "--wait", "1h", url.lastPathComponent], input: Array("x\n".utf8), environment: ["PATH": path])
        #expect(outcome.output == file.path + "\n")
    }

    @Test func `a failure is reported and sets the status`() throws {
        let outcome = try run(
            "--wait 1h --key-field 1 --jobs 1 --stats", "sh", "-c", "exit $0", "{key}", input: "0\n3\n0 1\n")
        #expect(outcome.ending == 1)
        #expect(outcome.errorLines.first == "lull: key 3: sh failed with status 3")
        #expect(outcome.errors.contains("executed 1") && outcome.errors.contains("failed 1"))
    }

    @Test func `--fail-fast starts nothing more`() throws {
        let outcome = try run(
            "--wait 1h --key-field 1 --jobs 1 --fail-fast --stats", "sh", "-c", "echo $0; exit 1", "{key}",
            input: "a\nb\nc\n")
        #expect(outcome.ending == 1)
        #expect(outcome.output == "a\n")
        #expect(outcome.errors.contains("failed 1") && outcome.errors.contains("cancelled 2"))
    }

    @Test func `--fail-fast awaits what runs and reads no more`() throws {
        let gate = try Gate()
        let script = "[ $0 = bad ] && exit 1; \(gate.wait); echo good"
        let process = try start("--wait 0 --key-field 1 --jobs 2 --fail-fast", "sh", "-c", script, "{key}")
        process.send("good\nbad\n")
        #expect(try process.errorLine() == "lull: key bad: sh failed with status 1")
        try gate.open()
        // The input stays open.
        #expect(try process.line() == "good")
        #expect(try process.end().ending == 1)
    }

    @Test func `everything is awaited at the end`() throws {
        let gate = try Gate()
        let process = try start(
            "--wait 1h --key-field 1 --jobs 9", "sh", "-c", "echo +; \(gate.wait); echo $LULL_KEY")
        process.send("a\nb\nc\n")
        process.closeInput()
        for _ in 0..<3 { #expect(try process.line() == "+") }
        try gate.open()
        #expect(try process.finish().lines.sorted() == ["a", "b", "c"])
    }

    @Test func `jobs are bounded and started in order`() throws {
        let gate = try Gate()
        let process = try start(
            "--wait 0 --key-field 1 --jobs 1", "sh", "-c", "echo +$LULL_KEY; \(gate.wait); echo -$LULL_KEY")
        process.send("a\nb\nc\n")
        #expect(try process.line() == "+a")
        try process.waitUntilRead(3)
        try gate.open()
        #expect(try process.finish().lines == ["-a", "+b", "-b", "+c", "-c"])
    }

    /// Runs commands of eight jobs with fewer descriptors than those need; none ends before one has to wait.
    private func runLimited(_ options: String, _ begin: String, _ end: String, input: String) throws
        -> ToolProcess.Outcome
    {
        let gate = try Gate()
        let script = "\(begin); \(gate.wait); \(end)"
        let arguments = ["run"] + options.split(separator: " ").map(String.init) + ["--", "sh", "-c", script]
        let process = try ToolProcess(
            ["-c", "ulimit -n 14; exec \"$0\" \"$@\"", ToolProcess.path] + arguments, program: "/bin/sh")
        process.send(input)
        process.closeInput()
        #expect(try process.errorLine() == "lull: sh has to wait: cannot make a pipe: Too many open files")
        try gate.open()
        return try process.finish()
    }

    @Test func `a want of descriptors makes commands wait for others to end`() throws {
        let keys = (1...40).map { "\($0)" }
        let outcome = try runLimited(
            "--wait 1h --key-field 1 --jobs 8", "cat", "true", input: keys.map { $0 + "\n" }.joined())
        #expect(outcome.ending == 0)
        #expect(outcome.lines.sorted() == keys.sorted())
        #expect(outcome.errorLines.count <= 1, "\(outcome.errors)")
    }

    @Test func `--fail-fast does not start what waits for another command to end`() throws {
        let keys = (1...8).map { "\($0)\n" }.joined()
        let outcome = try runLimited(
            "--wait 1h --key-field 1 --jobs 8 --fail-fast --stats", "echo x", "exit 1", input: keys)
        #expect(outcome.ending == 1)
        #expect(outcome.lines.count < 8)
        #expect(outcome.errors.contains("failed \(outcome.lines.count)"), "\(outcome.errors)")
    }

    @Test func `--at-end drop starts nothing`() throws {
        let outcome = try run("--wait 1h --at-end drop --stats", "echo", "x", input: "a\n")
        #expect(outcome.ending == 0)
        #expect(outcome.output == "")
        #expect(outcome.errors.contains("cancelled 1"))
        #expect(try run("--wait 200ms --at-end wait", "echo", "{edge}", input: "a\n").output == "trailing\n")
    }
}
