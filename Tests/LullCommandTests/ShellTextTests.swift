import Testing

@testable import LullCommand

/// A key or a value never becomes part of a shell's program.
@Suite struct ShellTextTests {
    private func refusal(_ command: [String]) -> String? {
        do throws(Failure) {
            try ShellText.check(command.map { Array($0.utf8) }, .run)
            return nil
        } catch {
            #expect(error.status == ExitStatus.wrongUsage)
            return error.message
        }
    }

    @Test func `a shell program with a placeholder is refused before anything is executed`() throws {
        let outcome = try lull(
            ["run", "--wait", "0", "--key-field", "1", "--", "sh", "-c", "echo {key}"], input: Array("$(date)\n".utf8))
        #expect(outcome.ending == 64)
        #expect(outcome.output == "")
        #expect(
            outcome.errors == """
                lull: sh parses 'echo {key}', and would execute what the key contains: write "$LULL_KEY" there, with \
                the quotation marks (see lull run --help)

                """)
    }

    @Test func `the message names the way to do it`() {
        #expect(refusal(["bash", "-c", "echo {key}"])?.contains(#"write "$LULL_KEY" there"#) == true)
        #expect(refusal(["bash", "-c", "echo {value}"])?.contains(#"write "$1" there"#) == true)
        #expect(refusal(["ssh", "host", "rebuild", "{key}"])?.contains("give the key on standard input") == true)
    }

    @Test(arguments: [
        "sh|-c|{key}", "bash|-c|a {value}", "/bin/dash|-c|{key}", "zsh|-ec|'{key}'", "ksh|-e|-c|\"{key}\"",
        "bash|-c|-e|{key}", "bash|-euo|pipefail|-c|{key}", "bash|-O|extglob|-c|{key}", "bash|--rcfile|x|-c|{key}",
        "bash|--norc|-c|--|{key}", "sh|-c|-|{key}", "sh|+e|-c|{key}", "fish|--command={key}", "fish|--command|{key}",
        "env|sh|-c|{key}", "env|-i|A=b|sh|-c|{key}", "sudo|-u|x|bash|-lc|{key}", "xargs|sh|-c|{value}",
        "busybox|sh|-c|{key}", "docker|exec|c|sh|-c|{key}",
        "su|x|-c|{key}", "su|-lc|{key}", "su|-c{key}", "runuser|--command={key}", "flock|f|-c|{key}",
        "ssh|host|rebuild|{key}", "eval|{key}", "env|eval|x {value}",
    ])
    func `a placeholder in what a shell parses is refused`(_ command: String) {
        #expect(refusal(command.split(separator: "|").map(String.init)) != nil)
    }

    @Test(arguments: [
        "sh|-c|echo \"$1\"|sh|{key}|{value}", "sh|-c|echo {{key}} {count} {edge}", "sh|./script|-c|{key}",
        "bash|-e|script|{key}", "notify|{key}", "notify|-c|{key}", "env|A=b|notify|{key}", "sh|-c", "sh", "ssh",
        "su|-c",
        "su|{key}", "rsync|-ae|ssh|{key}|host:", "flock|f|notify|{key}", "rsync|-c|{key}|host:", "bash|-o",
    ])
    func `other arguments may have placeholders`(_ command: String) {
        #expect(refusal(command.split(separator: "|").map(String.init)) == nil)
    }
}
