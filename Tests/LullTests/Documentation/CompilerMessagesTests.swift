#if os(Linux)
    import Foundation
    import TestSupport
    import Testing

    /// The page "What the compiler says": of the code that it shows, one half is refused with the message, the other
    /// half is not.
    @Suite("The messages of the compiler", .ownThreads)
    struct CompilerMessagesTests {
        /// The code that is refused, the message, and what to write instead.
        struct Entry {
            var title: String
            var refused: String
            var message: String
            var accepted: String
        }

        static let modes = [
            "-swift-version 6", "-swift-version 6 -default-isolation MainActor",
            "-swift-version 6 -enable-upcoming-feature NonisolatedNonsendingByDefault",
            "-swift-version 5 -strict-concurrency=complete",
        ]

        @Test
        func `are what it says of the code of the page`() throws {
            let entries = try entries()
            #expect(entries.count >= 15)
            // What is found while types are checked keeps the compiler from looking for more; so those are left out
            // then.
            var rest = entries
            for step in ["-typecheck", "-emit-sil"] {
                let said = try Self.modes.prefix(2)
                    .flatMap { try compile(rest.map(\.refused), "\(step) \($0)").split(separator: "\n") }
                rest = rest.enumerated().filter { number, entry in
                    !said.contains { line in
                        line.contains("/Sample\(number).swift:")
                            && line.replacing("Sample\(number).", with: "").contains(entry.message)
                    }
                }.map(\.element)
            }
            #expect(rest.map(\.title) == [])
        }

        @Test(arguments: modes)
        func `are not said of what to write instead`(mode: String) throws {
            let said = try compile(entries().map(\.accepted), "-emit-sil \(mode)")
            #expect(said == "")
        }

        private func entries() throws -> [Entry] {
            let page = try String(
                contentsOf: ArticleCode.root.appending(path: "Sources/Lull/Lull.docc/CompilerMessages.md"),
                encoding: .utf8)
            return try page.components(separatedBy: "\n## ").dropFirst(2).map { section in
                let parts = section.components(separatedBy: "```")
                try #require(parts.count == 7 && parts[3].hasPrefix("text\n"), "\(section)")
                return Entry(
                    title: String(section.prefix { $0 != "\n" }), refused: String(parts[1].dropFirst(6)),
                    message: String(parts[3].dropFirst(5).dropLast()), accepted: String(parts[5].dropFirst(6)))
            }
        }

        /// Compiles samples as one module of a user's, and returns what the compiler says.
        private func compile(_ samples: [String], _ flags: String) throws -> String {
            guard !samples.isEmpty else { return "" }
            var sources = ["StandIns": Self.standIns]
            for (number, sample) in samples.enumerated() {
                sources["Sample\(number)"] = """
                    import Dispatch
                    import Lull
                    import LullDispatch
                    import Observation
                    \(wrapped(sample, number))
                    """
            }
            return try compileAsUser(sources, flags)
        }

        /// A type with the declarations of a sample, which have their names to themselves there, and a function with
        /// its statements, which begin with a constant.
        private func wrapped(_ sample: String, _ number: Int) -> String {
            let start = sample.firstMatch(of: #/(?m)^let /#)?.range.lowerBound ?? sample.endIndex
            return """
                enum Sample\(number) {
                \(sample[..<start].replacing("nonisolated func", with: "nonisolated static func"))
                nonisolated static func run(_ store: Store, _ draft: Draft, _ queue: DispatchQueue) async {
                \(sample[start...])
                }
                }
                """
        }

        private static let standIns = """
            nonisolated struct Draft: Sendable { var text = "" }
            actor Store { func save(_ draft: Draft, as number: Int) throws {} }

            """
    }
#endif
