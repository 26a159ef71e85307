import CLullCommand
import Foundation
import TestSupport
import Testing

@testable import LullCommand

/// Commands end when the program is killed or stopped, or ends by itself.
@Suite("lull run, supervision", .ownThreads)
struct SupervisionTests {
    private func start(_ options: String, _ script: String) throws -> ToolProcess {
        try ToolProcess(["run"] + options.split(separator: " ").map(String.init) + ["--", "sh", "-c", script])
    }

    private func processes(_ count: Int, of process: ToolProcess) throws -> [pid_t] {
        try (0..<count).map { _ in try #require(pid_t(try process.line())) }
    }

    // MARK: - Descendants

    #if os(Linux)
        /// The command itself, a child, one in a session of its own, and a daemon without a parent.
        private static let family = """
            sleep 600 & echo $!
            setsid sh -c 'trap "" TERM HUP INT; echo $$; sleep 600' &
            (setsid sh -c '(trap "" TERM HUP INT; sh -c "echo \\$PPID"; sleep 600) &' &)
            echo $$; wait; sleep 600
            """

        @Test(arguments: [SIGKILL, SIGQUIT])
        func `all descendants end if the program is killed`(_ number: Int32) throws {
            let process = try start("--wait 0 --jobs 4 --key-field 1", Self.family)
            process.send("a\nb\n")
            let family = try processes(8, of: process)
            #expect(!family.contains(where: hasEnded))
            process.signal(number)
            let outcome = try process.end()
            #expect(outcome.ending == -number)
            #expect(outcome.errors == "")
            let killed = Date()
            try eventually("the end of the family") { family.allSatisfy(hasEnded) }
            // It takes milliseconds; a busy machine gets more time.
            #expect(Date().timeIntervalSince(killed) < 5)
        }

        @Test func `killing the process group kills the commands`() throws {
            // As a shell does when it kills a job, or timeout when it kills its own group.
            let process = try ToolProcess(
                ["-s", "KILL", "600", ToolProcess.path, "run", "--wait", "0", "--", "sh", "-c", Self.family],
                program: "/usr/bin/timeout")
            process.send("a\n")
            let family = try processes(4, of: process)
            kill(-process.group, SIGKILL)
            _ = try process.end()
            try eventually("the end of the family") { family.allSatisfy(hasEnded) }
        }

        @Test func `processes left behind end with the program`() throws {
            let gate = try Gate()
            let script = "setsid sh -c 'echo $$; exec sleep 600 >/dev/null 2>&1' & \(gate.wait)"
            let process = try start("--wait 1h", script)
            process.send("x\n")
            process.closeInput()
            let left = try processes(1, of: process)
            try gate.open()
            #expect(try process.end().ending == 0)
            #expect(left.allSatisfy(hasEnded))
        }

        @Test func `a second signal kills processes outside the group`() throws {
            let process = try start("--wait 0", Self.family)
            process.send("a\n")
            let family = try processes(4, of: process)
            process.signal(SIGTERM)
            process.signal(SIGUSR1)
            _ = try process.errorLine()
            process.signal(SIGTERM)
            #expect(try process.end().ending == -SIGTERM)
            #expect(family.allSatisfy(hasEnded))
        }

        @Test func `killing the supervisor ends the program and the commands`() throws {
            let process = try start("--wait 0", "echo $PPID; \(Self.family)")
            process.send("a\n")
            let supervisor = try processes(1, of: process)[0]
            let family = try processes(4, of: process)
            kill(supervisor, SIGKILL)
            let outcome = try process.end()
            #expect(outcome.ending == 74)
            #expect(
                try process.errorLine()
                    == "lull: the supervisor of the commands was killed; lull has killed the commands, and ends"
            )
            #expect(family.allSatisfy(hasEnded))
        }

        @Test func `the supervisor ignores signals that end the program`() throws {
            let process = try start("--wait 0", "echo $PPID; cat")
            process.send("a\n")
            let supervisor = try processes(1, of: process)[0]
            #expect(try process.line() == "a")
            for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] { kill(supervisor, number) }
            process.send("b\n")
            #expect(try processes(1, of: process) == [supervisor])
            #expect(try process.line() == "b")
            #expect(try process.finish().ending == 0)
            #expect(kill(supervisor, 0) != 0)
        }

        @Test func `children are found with and without the kernel's list`() throws {
            let process = try ToolProcess(["run", "--wait", "1h", "--", "true"])
            let all = Descendants.childrenAmongAll()
            #expect(all.contains(process.group))
            if let listed = Descendants.listedChildren() { #expect(listed.contains(process.group)) }
            #expect(try process.finish().ending == 0)
        }
    #endif

    // MARK: - Standard input

    @Test(arguments: [6, 65_536, 100_006])
    func `the whole input exists before the command starts`(_ size: Int) throws {
        let gate = try Gate()
        let process = try start("--wait 0", "echo begun; \(gate.wait); wc -c")
        process.send(String(repeating: "x", count: size - 1) + "\n")
        #expect(try process.line() == "begun")
        // Nothing writes to the input any more.
        process.signal(SIGSTOP)
        try gate.open()
        #expect(try process.line() == "\(size)")
        process.signal(SIGCONT)
        #expect(try process.finish().ending == 0)
    }

    @Test(arguments: [6, 100_006])
    func `a command never reads partial input`(_ size: Int) throws {
        let log = try TemporaryFile()
        let record = String(repeating: "x", count: size - 1) + "\n"
        for round in 0..<40 {
            // Each command takes long enough to be running when the program is killed.
            let process = try start(
                "--wait 0 --while-running concurrent --jobs 3", ": $(seq 1000); wc -c >>\(log.path); echo counted")
            for _ in 0...(round % 10) { #expect(try process.line(sending: record) == "counted") }
            // These are being handed on, or are not yet.
            for _ in 0...(round % 4) { process.send(record) }
            process.signal(SIGKILL)
            _ = try process.end()
        }
        let sizes = Set(log.text.split(separator: "\n"))
        #expect(sizes == ["\(size)"])
    }

    @Test func `the input is a file positioned at its start`() throws {
        let process = try start("--wait 1h", "head -c 2; cat /dev/stdin; cat <&0")
        process.send("abc\n")
        let outcome = try process.finish()
        // Opening the file again starts at its beginning, as with any file.
        #expect(outcome.output.hasPrefix("ab"))
        #expect(outcome.output.contains("abc\n"))
        #expect(outcome.ending == 0)
    }

    #if os(Linux)
        @Test func `the program releases the values of running commands`() throws {
            let process = try start("--wait 0 --key-field 1 --jobs 20", "echo begun; sleep 600")
            let record = String(repeating: "x", count: 8_000_000) + "\n"
            for key in 0..<20 {
                process.send("\(key) " + record)
                #expect(try process.line() == "begun")
            }
            let status = try String(contentsOfFile: "/proc/\(process.group)/status", encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
            let kilobytes = try #require(Int(line.split(whereSeparator: \.isWhitespace)[1]))
            // Values of 160 MB, and the one that was read last.
            #expect(kilobytes < 80_000)
            process.signal(SIGKILL)
        }
    #endif

    // MARK: - The terminal

    #if os(Linux)
        // The program of the same name on Apple's systems takes other options.
        private static let script = "/usr/bin/script"

        @Test(.enabled(if: access(SupervisionTests.script, X_OK) == 0 && access("/bin/bash", X_OK) == 0))
        func `a command that reads the terminal fails instead of hanging`() throws {
            let line = "echo x | \(ToolProcess.path) run --wait 1h -- sh -c 'cat /dev/tty'; echo status $?"
            let process = try ToolProcess(["-qec", line, "/dev/null"], program: Self.script)
            var lines: [String] = []
            repeat {
                lines.append(try process.line().trimmingCharacters(in: .whitespacesAndNewlines))
            } while lines.last?.hasPrefix("status") == false
            #expect(lines.last == "status 1")
            // The command says why, and so does the message.
            let message = lines.first { $0.hasPrefix("lull: sh failed with status 1: ") }
            #expect(message?.contains("/dev/tty") == true, "\(lines)")
            _ = try process.end()
        }
    #endif

    @Test(arguments: ["filter --wait 0", "run --wait 0 -- cat"])
    func `SIGQUIT ends the program without a crash report`(_ command: String) throws {
        let process = try ToolProcess(command.split(separator: " ").map(String.init))
        process.send("x\n")
        #expect(try process.line() == "x")
        process.signal(SIGQUIT)
        let outcome = try process.finish()
        #expect(outcome.ending == -SIGQUIT)
        #expect(outcome.errors == "")
    }

    /// The runtime installs its handler before `main`. Without an earlier handler of our own, one SIGQUIT in twenty was
    /// lost.
    @Test func `an early SIGQUIT ends the program`() throws {
        for number in 0..<80 {
            let process = try ToolProcess(["filter", "--wait", "1h"])
            usleep(UInt32(number) * 150)
            process.signal(SIGQUIT)
            let outcome = try process.finish()
            #expect(outcome.ending == -SIGQUIT)
            #expect(outcome.errors == "")
        }
    }
}
