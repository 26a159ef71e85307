import Foundation
import LullCore
import TestSupport
import Testing

@testable import LullCommand

/// Any input gives a value or an error: nothing traps, and nothing hangs.
@Suite("Fuzzed input", .ownThreads)
struct FuzzTests {
    private static let seed = UInt64(ProcessInfo.processInfo.environment["LULL_FUZZ_SEED"] ?? "") ?? 20_240_501

    /// The number of inputs; `LULL_FUZZ` sets a greater one.
    private static let count = Int(ProcessInfo.processInfo.environment["LULL_FUZZ"] ?? "") ?? 30_000

    private static let seeds = [
        #"{"at":12.5,"key":"lamp","value":7}"#, #"{"at":"2024-05-01T12:00:00.25+02:00","op":"flush","wait":"500ms"}"#,
        #"{"at":-1e-3,"key":{"a":["\u0041\ud83d\ude00",null]},"value":[1,2,{"x":true}],"op":"submit"}"#, "{}", "1.5s",
        "9999999999h",
        "0.000000001e10", "/a~1b/0/~0", "2262-04-11T23:47:16.854775807Z", "\u{FF}\u{0}",
    ].map { Array($0.utf8) }

    private static func mutated(_ random: inout SeededRandom) -> [UInt8] {
        var bytes = seeds.randomElement(using: &random) ?? []
        let alphabet = Array(#"{}[]",:\u0dD8eE+-.019aftnsmhTZ/~"#.utf8) + [0, 0x80, 0xC3, 0xED, 0xFF, 10]
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            let place = Int.random(in: 0...bytes.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes.insert(alphabet.randomElement(using: &random) ?? 0, at: place)
            case 1: if place < bytes.count { bytes.remove(at: place) }
            case 2: if place < bytes.count { bytes[place] = alphabet.randomElement(using: &random) ?? 0 }
            default: bytes.append(contentsOf: bytes[place...].prefix(8))
            }
        }
        return bytes
    }

    @Test func `no input of the readers traps`() {
        var random = SeededRandom(seed: Self.seed)
        let pointer = JSONPointer(Array("/key/a/0".utf8))
        for _ in 0..<Self.count {
            let bytes = Self.mutated(&random)
            bytes.withUnsafeBufferPointer { text in
                _ = try? DurationText.read(String(decoding: bytes, as: UTF8.self))
                _ = try? Timestamp.parse(text)
                _ = try? pointer?.find(in: text)
                _ = JSONPointer(bytes)
                for part in [RecordPart.field(2, delimiter: nil), .field(2, delimiter: [44]), .json(JSONPointer([])!)] {
                    // Proof for "!": the empty text is a valid pointer.
                    _ = try? part.delay(of: text)
                    let rule = KeyRule.part(part)
                    guard let key = try? rule.key(of: text) else { continue }
                    var written: [UInt8] = []
                    rule.append(key, to: &written)
                    _ = rule.plain(key)
                    #expect(written.withUnsafeBufferPointer { isJSON($0) }, "\(bytes)")
                }
                if let line = try? TraceLine(text), let key = line.key {
                    let canonical = JSONText.canonical(key)
                    #expect(
                        canonical.withUnsafeBufferPointer { isJSON($0) && JSONText.canonical($0) == canonical },
                        "\(bytes)")
                }
                var written: [UInt8] = []
                JSONText.append(bytes, to: &written)
                #expect(written.withUnsafeBufferPointer { isJSON($0) }, "\(bytes)")
            }
        }
    }

    private func isJSON(_ text: ByteSlice) -> Bool {
        var scanner = JSONScanner(text)
        guard (try? scanner.value()) != nil, (try? scanner.end()) != nil else { return false }
        return true
    }

    /// Foundation's parser accepts and refuses the same, except where it is known to be lax or strict.
    @Test func `what is accepted as JSON is accepted by Foundation`() {
        var random = SeededRandom(seed: Self.seed &+ 1)
        for _ in 0..<Self.count / 5 {
            let bytes = Self.mutated(&random)
            guard bytes.withUnsafeBufferPointer({ isJSON($0) }) else { continue }
            // Lone surrogates and numbers beyond the range of Double are JSON, but Foundation refuses them.
            if bytes.contains(UInt8(ascii: "\\")) || bytes.contains(UInt8(ascii: "e"))
                || bytes.contains(UInt8(ascii: "E"))
            {
                continue
            }
            #expect(throws: Never.self, "\(String(decoding: bytes, as: UTF8.self))") {
                try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
            }
        }
    }

    /// Any arguments in any order give options, or one line that says what is wrong.
    @Test func `arguments are accepted or refused in one line`() throws {
        var random = SeededRandom(seed: Self.seed &+ 3)
        let words =
            Option.all.map(\.spelled) + ["-h", "-x", "--", "-", "--wai", "--m", "trace", "sh", "{value}"]
        let values = [
            "1s", "0", "-1s", "300ms", "1.5.s", "1e9h", "", "leading", "trailing,leading", ",", "latest", "collect",
            "17",
            "-3", "99999999999999999999", "\\t", "ab", "/a/b", "a/b", "/~2", "jsonl", "json", "flush", "cancel",
            "\u{1F}é",
        ]
        for _ in 0..<Self.count / 5 {
            let subcommand = try #require(Subcommand.allCases.randomElement(using: &random))
            var arguments = [subcommand.rawValue]
            for _ in 0..<Int.random(in: 0..<7, using: &random) {
                let word = words.randomElement(using: &random) ?? ""
                let value = values.randomElement(using: &random) ?? ""
                switch Int.random(in: 0..<4, using: &random) {
                case 0: arguments.append(word)
                case 1: arguments.append(value)
                case 2: arguments.append("\(word)=\(value)")
                default: arguments += [word, value]
                }
            }
            let copies = arguments.map { strdup($0) }
            defer { for copy in copies { free(copy) } }
            do {
                _ = try Invocation(subcommand, copies.compactMap { $0 }).options.setup(for: subcommand)
            } catch {
                #expect(!error.message.isEmpty && !error.message.contains("\n"), "\(arguments)")
                #expect(error.status == 64, "\(arguments)")
            }
        }
    }

    /// On traces and records of random bytes the command prints one line and ends with a matching status.
    @Test func `random input is answered with one line`() throws {
        var random = SeededRandom(seed: Self.seed &+ 2)
        for round in 0..<40 {
            let text = (0..<20).reduce(into: [UInt8]()) { text, _ in text += Self.mutated(&random) + [10] }
            let outcome = try lull(["simulate", "--wait", "1s", "--format", "jsonl", "-"], input: text)
            #expect([0, 65].contains(outcome.ending), "round \(round)")
            #expect(outcome.errorLines.count == (outcome.ending == 0 ? 0 : 1), "round \(round)")
            let filtered = try lull(["filter", "--wait", "1s", "--key-json", "/key", "--format", "jsonl"], input: text)
            #expect(filtered.ending == 0, "round \(round)")
            #expect(
                filtered.errorLines.allSatisfy { $0.hasPrefix("lull: line ") || $0.contains(" records skipped: ") },
                "round \(round)")
        }
    }
}
