#if os(Linux)
    import Foundation
    import TestSupport
    import Testing

    /// The compiler's message about a typo in the settings of a debouncer: the form of the initialisers was chosen for
    /// it.
    @Suite("The errors of the compiler", .ownThreads)
    struct DiagnosticsTests {
        @Test(arguments: [
            (
                "Debouncer(for: .seconds(1), edgs: .leading) { (_: Int) in }",
                "have 'for:edgs:_:', expected 'for:edges:_:'"
            ),
            (
                "Debouncer(for: .seconds(1), combining: .merge { (all: inout [Int], new) in all += nw }) "
                    + "{ (_: [Int]) in }",
                "cannot find 'nw' in scope"
            ),
            (
                "KeyedThrottler(every: .seconds(1), options: .init(maxBach: 3)) { (_: Int, _: Int) in }",
                "have 'maxBach:', expected 'maxBatch:'"
            ),
        ])
        func `a typo in an initialiser is named, with what was meant`(code: String, message: String) throws {
            let output = try compile("import Lull\nfunc make() { _ = \(code) }\n")
            #expect(output.contains("error: ") && output.contains(message), "\(output)")
            #expect(!output.contains("Stack dump"), "\(output)")
        }

        @Test
        func `import Lull brings the options into scope, and not the engine`() throws {
            let options =
                "Edges.leading, DelayRule.extend, OverlapPolicy.skip, DebounceOptions(), EndPolicy.drop, Counters.self"
            #expect(try compile("import Lull\nfunc name() { _ = (\(options)) }\n") == "")
            for name in ["Engine", "Gate", "Batch", "WaiterID", "Setup", "Runtime", "TrackedWork", "WorkObserver"] {
                let output = try compile("import Lull\nfunc name() { _ = \(name).self }\n")
                #expect(output.contains("cannot find '\(name)' in scope"), "\(output)")
            }
        }

        @Test(arguments: [
            ("Outcome<Int>", ".executed, .failed, .superseded, .absorbed, .cancelled, .rejected"),
            ("Rejection", ".shutDown, .overCapacity, .tooManyPending"),
        ])
        func `a switch over what may grow needs a default, so that a later case breaks nothing`(
            type: String, cases: String
        ) throws {
            func check(_ rest: String) throws -> String {
                try compile("import Lull\nfunc name(_ it: \(type)) { switch it { case \(cases): break\n\(rest) } }\n")
            }
            #expect(try check("@unknown default: break") == "")
            let output = try check("")
            #expect(output.contains("error: ") && output.contains("@unknown default"), "\(output)")
        }

        /// Checks a file as a user's package would, and returns what the compiler says.
        private func compile(_ code: String) throws -> String {
            try compileAsUser(["User": code], "-typecheck -swift-version 6")
        }
    }
#endif
