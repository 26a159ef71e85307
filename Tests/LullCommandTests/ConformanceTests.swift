import Foundation
import TestSupport
import Testing

/// The conformance cases of the semantics, run through the command.
@Suite("Conformance", .ownThreads)
struct ConformanceTests {
    private struct Case: Decodable {
        struct Policy: Decodable {
            let kind: String
            let wait, interval, maxWait, maxCount, spacing: Int?
            let edges: [String]
            let delayRule: String?
        }
        struct Operation: Decodable {
            let at: Int
            let op: String
            let key: String?
            let value: Value?
            let wait: Int?
        }
        struct Execution: Decodable {
            let at: Int
            let key: String
            let value: Value
            let count: Int
            let cause: String
            let first: Int

            private enum CodingKeys: String, CodingKey {
                case at, key, value, count
                case cause = "edge"
                case first
            }
        }
        /// Returns a value as JSON text.
        struct Value: Decodable {
            let json: String

            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                if container.decodeNil() {
                    json = "null"
                } else {
                    json = try (try? "\(container.decode(Int.self))") ?? "\"\(container.decode(String.self))\""
                }
            }
        }
        let id: String
        let policy: Policy
        let ops: [Operation]
        let expected: [Execution]

        var arguments: [String] {
            var arguments = ["simulate", "--format", "jsonl", "--edges", policy.edges.joined(separator: ",")]
            if let wait = policy.wait { arguments += ["--wait", "\(wait)ms"] }
            if let interval = policy.interval { arguments += ["--throttle", "\(interval)ms"] }
            if let maxWait = policy.maxWait { arguments += ["--max-wait", "\(maxWait)ms"] }
            if let maxCount = policy.maxCount { arguments += ["--max-count", "\(maxCount)"] }
            if let spacing = policy.spacing { arguments += ["--spacing", "\(spacing)ms"] }
            if let delayRule = policy.delayRule { arguments += ["--delay-rule", delayRule] }
            return arguments + ["-"]
        }

        var trace: String {
            ops.map { operation in
                var line = #"{"at":\#(operation.at)e-3,"op":"\#(operation.op)""#
                if let key = operation.key { line += #","key":"\#(key)""# }
                if let value = operation.value { line += #","value":\#(value.json)"# }
                if let wait = operation.wait { line += #","wait":"\#(wait)ms""# }
                return line + "}\n"
            }.joined()
        }

        var output: [String] {
            expected.map {
                #"{"at":\#(seconds($0.at)),"key":"\#($0.key)","value":\#($0.value.json),"count":\#($0.count),"#
                    + #""edge":"\#($0.cause)","first":\#(seconds($0.first))}"#
            }
        }

        private func seconds(_ milliseconds: Int) -> String {
            guard milliseconds % 1000 != 0 else { return "\(milliseconds / 1000)" }
            var digits = "\(1000 + milliseconds % 1000)".dropFirst()
            while digits.last == "0" { digits.removeLast() }
            return "\(milliseconds / 1000).\(digits)"
        }
    }

    @Test(arguments: [("scenarios", 214), ("spacing", 80)])
    func `the conformance cases pass`(_ name: String, _ count: Int) throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../LullReference/\(name).json")
        let cases = try JSONDecoder().decode([Case].self, from: Data(contentsOf: file))
        #expect(cases.count == count)
        for scenario in cases {
            let outcome = try lull(scenario.arguments, input: Array(scenario.trace.utf8))
            #expect(outcome.ending == 0, "\(scenario.id)")
            #expect(outcome.lines == scenario.output, "\(scenario.id)")
        }
    }
}
