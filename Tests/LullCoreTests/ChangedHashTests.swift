#if os(Linux)
    import Foundation
    import LullCore
    import LullEngine
    import TestSupport
    import Testing

    @Suite("A key whose hash changes", .ownThreads)
    struct ChangedHashTests {
        private static let said = "Fatal error: Lull: a key's hash has changed while it was in use"

        private final class Name: Hashable {
            var text = "before"

            static func == (one: Name, other: Name) -> Bool { one === other }

            func hash(into hasher: inout Hasher) { hasher.combine(text) }
        }

        @Test
        func `stops the program with a message when the key is to be forgotten`() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                var engine = Engine<Name, Int>(try Setup(.debounce(10)))
                let name = Name()
                _ = engine.submit(1, for: name, at: .origin)
                name.text = "after"
                _ = engine.cancel(at: .origin)
            }
            let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(output.contains(Self.said))
        }

        /// A precondition has no message there, and tests are not optimised: the files of the index are compiled once
        /// more.
        @Test
        func `stops an optimised program with a message, too`() throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let program = """
                KeyIndex.check(true)
                KeyIndex.check(false)
                """
            try Data(program.utf8).write(to: folder.appending(path: "main.swift"))
            let core = ArticleCode.root.appending(path: "Sources/LullCore")
            let sources = [
                core.appending(path: "KeyIndex.swift"),
                folder.appending(path: "main.swift"),
            ]
            let binary = folder.appending(path: "program").path
            let compiled = try run(
                ["swiftc", "-O", "-swift-version", "6", "-package-name", "lull", "-o", binary] + sources.map { $0.path }
            )
            #expect(compiled.status == 0, "\(compiled.output)")
            let ended = try run([binary])
            #expect(ended.status != 0)
            #expect(ended.output.contains(Self.said))
        }

        /// Runs a program to its end, and returns what it writes.
        private func run(_ command: [String]) throws -> (status: Int32, output: String) {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = command
            process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
            let pipe = Pipe()
            process.standardOutput = pipe
            process.standardError = pipe
            try process.run()
            let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            return (process.terminationStatus, String(decoding: output, as: UTF8.self))
        }
    }
#endif
