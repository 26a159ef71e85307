internal import LullCore

/// How the value of an option is written, read, and offered by a shell.
struct OptionReading<Value>: Sendable {
    /// Its name in help, such as N.
    let name: String
    var completion: @Sendable (Subcommand) -> Option.Completion = { _ in .text }
    /// Returns a value as it would be written.
    var write: @Sendable (Value) -> String = { "\($0)" }
    let read: @Sendable (OptionText) throws(Failure) -> Value
}

/// What was given as the value of an option.
struct OptionText {
    let name: String
    let argument: Argument?
    let subcommand: Subcommand

    var bytes: [UInt8] { Invocation.bytes(argument) }
    /// The bytes as text, with what is not UTF-8 repaired.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Returns the failure for a wrong value.
    func refusal(_ message: String) -> Failure { .usage("--\(name)\(message)", subcommand) }
}

extension OptionReading where Value == CoreDuration {
    static var duration: Self {
        Self(name: "D", write: DurationText.option) { given throws(Failure) in
            do throws(DurationText.Fault) {
                return try DurationText.parse(given.text)
            } catch {
                throw given.refusal(": \"\(given.text)\" \(error.explanation(of: given.text))")
            }
        }
    }

    static var lease: Self {
        Self(name: "D") { given throws(Failure) in
            let lease = try duration.read(given)
            if lease < .seconds(1) { throw given.refusal(" must be at least 1s, not \(given.text)") }
            return lease
        }
    }
}

extension OptionReading where Value == Int {
    static var number: Self {
        Self(name: "N") { given throws(Failure) in
            guard let number = Int(given.text), number >= 1, given.text.first != "+" else {
                let hint = given.text == "0" && given.name.hasSuffix("-field") ? ": the first field is 1" : ""
                throw given.refusal(" must be a whole number of at least 1, not \"\(given.text)\"\(hint)")
            }
            return number
        }
    }
}

extension OptionReading where Value == Double {
    static var share: Self {
        Self(name: "P") { given throws(Failure) in
            guard let share = Percent.parse(given.text) else {
                throw given.refusal(" must be a percentage such as 90%, not \"\(given.text)\"")
            }
            return share
        }
    }
}

extension OptionReading where Value == String {
    /// Text as it is given. Invalid UTF-8 is refused: repaired, different arguments could become the same.
    private static func unchanged(_ given: OptionText) throws(Failure) -> String {
        guard let text = String(validating: given.bytes, as: UTF8.self) else { throw given.refusal(" must be UTF-8") }
        return text
    }

    static var store: Self { Self(name: "URL", completion: { _ in .store }, read: unchanged) }

    static func name(_ name: String) -> Self {
        Self(name: name) { given throws(Failure) in
            let text = try unchanged(given)
            if text.isEmpty { throw given.refusal(" must not be empty") }
            return text
        }
    }
}

extension OptionReading where Value == Argument {
    /// A path, which need not be UTF-8.
    static var file: Self {
        Self(name: "FILE", completion: { _ in .file }) { given throws(Failure) in
            guard let path = given.argument else { throw given.refusal(" needs a value") }
            return path
        }
    }
}

extension OptionReading where Value == [CoreDuration] {
    static var waits: Self {
        Self(name: "RANGE|LIST") { given throws(Failure) in
            do throws(WaitSeries.Fault) {
                return try WaitSeries.parse(given.text)
            } catch {
                throw given.refusal(": \(error.explanation)")
            }
        }
    }
}

extension OptionReading where Value == StatusLimits {
    static var limits: Self {
        Self(name: "LIMITS") { given throws(Failure) in
            do throws(StatusLimits.Fault) {
                return try StatusLimits(given.text)
            } catch {
                throw given.refusal(": \(error.explanation)")
            }
        }
    }
}

extension OptionReading where Value == [UInt8] {
    static var delimiter: Self {
        Self(name: "C") { given throws(Failure) in
            let bytes = given.bytes
            if bytes == Array("\\t".utf8) { return [UInt8(ascii: "\t")] }
            let isCharacter = String(validating: bytes, as: UTF8.self)?.unicodeScalars.count == 1
            guard isCharacter || bytes.count == 1 else {
                throw given.refusal(" must be one character, or \\t, not \"\(given.text)\"")
            }
            return bytes
        }
    }
}

extension OptionReading where Value == JSONPointer {
    static var pointer: Self {
        Self(name: "POINTER") { given throws(Failure) in
            guard let pointer = JSONPointer(given.bytes) else {
                throw given.refusal(
                    ": \"\(given.text)\" is not a JSON pointer: write one such as /device/id, with ~0 for ~ and ~1 for /"
                )
            }
            return pointer
        }
    }
}

// MARK: - One of a few

extension OptionReading where Value: Equatable & Sendable {
    /// One of a few values with their names.
    static func choice(_ name: String, _ choices: [(name: String, choice: Value)]) -> Self {
        choice(name) { _ in choices }
    }

    /// One of a few values, which depend on the subcommand.
    static func choice(
        _ name: String, _ choices: @escaping @Sendable (Subcommand) -> [(name: String, choice: Value)]
    ) -> Self {
        Self(
            name: name, completion: { .choice(choices($0).map(\.name)) },
            write: { value in
                Subcommand.allCases.lazy.flatMap(choices).first { $0.choice == value }?.name ?? "\(value)"
            },
            read: { given throws(Failure) in try pick(given.text, choices(given.subcommand), given) })
    }

    fileprivate static func pick(
        _ text: String, _ choices: [(name: String, choice: Value)], _ given: OptionText
    ) throws(Failure) -> Value {
        guard let found = choices.first(where: { $0.name == text }) else {
            let names = choices.map(\.name)
            let others = names.dropLast().joined(separator: ", ")
            let list = (others.isEmpty ? "" : others + " or ") + (names.last ?? "")
            throw given.refusal(" must be \(list), not \"\(text)\"")
        }
        return found.choice
    }
}

extension OptionReading where Value == Edges {
    /// One or both edges of a burst.
    static var edges: Self {
        let single: [(name: String, choice: Edges)] = [("leading", .leading), ("trailing", .trailing)]
        // "both" is valid only by itself.
        let all = single + [("both", [.leading, .trailing])]
        return Self(
            name: "EDGES", completion: { _ in .choice(all.map(\.name)) },
            write: { edges in single.filter { edges.contains($0.choice) }.map(\.name).joined(separator: ",") },
            read: { given throws(Failure) in
                let names = given.text.split(separator: ",", omittingEmptySubsequences: false)
                var edges: Edges = []
                for name in names { edges.formUnion(try pick(String(name), names.count == 1 ? all : single, given)) }
                return edges
            })
    }
}

extension OptionReading where Value == CommandOptions.Format {
    static var format: Self {
        let usual = choice("FORMAT") { Value.known(to: $0).map { ($0.rawValue, $0) } }
        return Self(name: usual.name, completion: usual.completion) { given throws(Failure) in
            if given.text.hasPrefix("json"), Option.has(given.subcommand, "json") {
                throw given.refusal(" must be openmetrics, not \"\(given.text)\"; for objects use --json")
            }
            return try usual.read(given)
        }
    }
}
