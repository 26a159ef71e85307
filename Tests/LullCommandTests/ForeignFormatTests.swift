import CLullCommand
import TestSupport
import Testing

@Suite("Files that are no trace", .ownThreads)
struct ForeignFormatTests {
    private func simulate(_ trace: String) throws -> ToolProcess.Outcome {
        try lull("simulate", "--wait", "1s", "-", input: trace)
    }

    @Test(
        arguments: [
            ([0x1F, 0x8B, 0x08, 0x00], "it is compressed with gzip: gzip -dc "),
            ([0x28, 0xB5, 0x2F, 0xFD, 0x04], "it is compressed with zstd: zstd -dc "),
            ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], "it is compressed with xz: xz -dc "),
            (Array("BZh91AY".utf8), "it is compressed with bzip2: bzip2 -dc "),
            ([0xFF, 0xFE, 0x7B, 0x00, 0x0A, 0x00], "it is UTF-16: iconv -f UTF-16 -t UTF-8 "),
            ([0x7B, 0x00, 0x22, 0x00, 0x0A, 0x00], "it is UTF-16: iconv -f UTF-16 -t UTF-8 "),
            ([0x00, 0x7B, 0x00, 0x22, 0x00, 0x0A], "it is UTF-16: iconv -f UTF-16 -t UTF-8 "),
            (Array("\u{FEFF}{\"at\":1}\n".utf8), "it begins with a byte order mark: tail -c +4 "),
            (Array("at,key\n1,a\n".utf8), "it looks like CSV, but a trace has a JSON object on each line"),
            (Array("[{\"at\":1},\n".utf8), "it is a JSON array, but a trace has an object on each line: jq -c '.[]' "),
            (Array("[".utf8), "it is a JSON array, but a trace has an object on each line: jq -c '.[]' "),
            (Array("1714560000;a\n".utf8), "it looks like CSV, but a trace has a JSON object on each line"),
        ] as [([UInt8], String)])
    func `foreign formats are named with a conversion`(_ bytes: [UInt8], _ hint: String) throws {
        let file = try TemporaryFile(bytes)
        for command in [["simulate", "--wait", "1s"], ["tune"]] {
            let outcome = try lull(command + [file.path], input: [])
            #expect(outcome.ending == 65)
            #expect(outcome.errorLines.count == 1)
            #expect(outcome.errors.hasPrefix("lull: \(file.path), line 1: \(hint)"), "\(outcome.errors)")
        }
    }

    @Test func `a bad line after good ones is not taken for another format`() throws {
        let outcome = try simulate("{\"at\":1}\na,b\n")
        #expect(outcome.ending == 65)
        #expect(outcome.errors.hasPrefix("lull: standard input, line 2: not a JSON object: "))
        #expect(try simulate("nonsense\n").errors.contains("line 1: not a JSON object: "))
    }

    @Test(
        arguments: [
            "import os, sys\n\nx = f(1, 2)\n", "from a import b,c\nimport d\n", "f(a,b)\n", "Well, that is it.\n",
        ])
    func `text with commas is not taken for CSV`(_ text: String) throws {
        #expect(try simulate(text).errors.contains("line 1: not a JSON object: "))
    }

    @Test func `a picture of an empty trace is an error and leaves no file`() throws {
        let file = try TemporaryFile("a picture")
        let absent = file.path + ".svg"
        for command in [["simulate", "--wait", "1s"], ["tune"]] {
            for path in [file.path, absent] {
                let outcome = try lull(command + ["--svg", path, "-"], input: Array("\n".utf8))
                #expect(outcome.ending == 65)
                #expect(
                    outcome.errors
                        == "lull: standard input: nothing was submitted, so there is nothing to draw for --svg\n")
            }
        }
        #expect(file.text == "a picture")
        #expect(access(absent, F_OK) != 0)
    }
}
