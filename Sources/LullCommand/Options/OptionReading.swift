internal import CLullCommand
internal import Lull
internal import LullCore
internal import LullTuning

/// How the value of an option is written, read, and offered by a shell.
struct OptionReading<Value>: Sendable {
    /// Its name in help, such as N.
    let name: String
    var completion: @Sendable (Subcommand) -> Option.Completion = { _ in .text }
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

    func refusal(_ message: String) -> Failure { .usage("--\(name)\(message)", subcommand) }
}

extension OptionReading {
    /// Creates a reading from a function that returns nil for a wrong value, and what to say about that.
    private init(
        _ name: String, _ read: @escaping @Sendable (OptionText) -> Value?,
        orRefuse message: @escaping @Sendable (OptionText) -> String
    ) {
        self.init(name: name) { given throws(Failure) in
            guard let value = read(given) else { throw given.refusal(message(given)) }
            return value
        }
    }

    /// Creates a reading from a function that says itself what is wrong.
    private init(_ name: String, _ read: @escaping @Sendable (String) throws(Refusal) -> Value) {
        self.init(name: name) { given throws(Failure) in
            do throws(Refusal) { return try read(given.text) } catch { throw given.refusal(": \(error.reason)") }
        }
    }
}

extension OptionReading where Value == CoreDuration {
    static var duration: Self {
        var reading = Self("D", DurationText.read)
        reading.write = DurationText.exact
        return reading
    }

    static var positive: Self {
        Self(name: "D") { given throws(Failure) in
            let duration = try duration.read(given)
            if duration <= .zero { throw given.refusal(" must be more than zero, not \(given.text)") }
            return duration
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
        Self("N", { given in Int(given.text).flatMap { $0 >= 1 && given.text.first != "+" ? $0 : nil } }) { given in
            " must be a whole number of at least 1, not \"\(given.text)\""
        }
    }

    static var field: Self {
        Self(name: "N") { given throws(Failure) in
            if given.text == "0" { throw given.refusal(" must be a whole number of at least 1: the first field is 1") }
            return try number.read(given)
        }
    }
}

extension OptionReading where Value == Int32 {
    /// An exit status, or 0 for none.
    static var status: Self {
        Self(
            "N", { given in Int32(given.text).flatMap { (0...255).contains($0) && given.text.first != "+" ? $0 : nil } }
        ) {
            " must be an exit status from 1 to 255, or 0 for none, not \"\($0.text)\""
        }
    }

    static var signal: Self {
        let signals = [
            ("HUP", SIGHUP), ("INT", SIGINT), ("QUIT", SIGQUIT), ("KILL", SIGKILL), ("USR1", SIGUSR1),
            ("USR2", SIGUSR2), ("TERM", SIGTERM),
        ]
        return choice("SIGNAL", signals)
    }
}

extension OptionReading where Value == RetryPolicy {
    /// The first and the greatest delay, such as `1s..10m`, and after commas a factor and a jitter.
    static var backoff: Self {
        Self("FIRST..GREATEST") { text throws(Refusal) in
            let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            guard let dots = parts[0].firstRange(of: "..") else {
                throw Refusal(reason: "give the first and the greatest delay, such as 1s..10m, not \"\(text)\"")
            }
            let first = try DurationText.read(String(parts[0][..<dots.lowerBound]))
            let greatest = try DurationText.read(String(parts[0][dots.upperBound...]))
            guard first <= greatest else { throw Refusal(reason: "the first of the two must be the shorter one") }
            var policy = RetryPolicy(initialDelay: Duration(first), maxDelay: Duration(greatest))
            for part in parts.dropFirst() {
                let value = part.drop { $0 != "=" }.dropFirst()
                if part.hasPrefix("factor="), let factor = Double(value), factor.isFinite, factor >= 1 {
                    policy.factor = factor
                } else if part.hasPrefix("jitter="), let jitter = Percent.parse(String(value)) {
                    policy.jitter = jitter
                } else {
                    throw Refusal(reason: "after a comma give factor=2, at least 1, or jitter=50%, not \"\(part)\"")
                }
            }
            return policy
        }
    }
}

extension OptionReading where Value == RateLimit {
    /// A number of starts and the time in which there are no more, such as `40/1m`.
    static var rate: Self {
        var reading = Self("N/D") { text throws(Refusal) in
            let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let starts = Int(parts[0]), starts >= 1, parts[0].first != "+" else {
                throw Refusal(reason: "give a number of starts and a time, such as 40/1m, not \"\(text)\"")
            }
            let period = try DurationText.read(String(parts[1]))
            guard period > .zero else { throw Refusal(reason: "the time must be more than zero") }
            return RateLimit(starts: starts, period: period, burst: 1)
        }
        reading.write = { "\($0.starts)/\(DurationText.exact($0.period))" }
        return reading
    }
}

extension OptionReading where Value == Double {
    static var share: Self {
        Self("P", { Percent.parse($0.text) }) { " must be a percentage such as 90%, not \"\($0.text)\"" }
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
        var reading = Self("FILE", { $0.argument }) { _ in " needs a value" }
        reading.completion = { _ in .file }
        return reading
    }
}

extension OptionReading where Value == [CoreDuration] {
    static var waits: Self { Self("RANGE|LIST", parse) }

    /// Parses a range such as `50ms..5s`, or a list such as `100ms,300ms,1s`.
    private static func parse(_ text: String) throws(Refusal) -> [CoreDuration] {
        if let dots = text.firstRange(of: "..") {
            let first = try DurationText.read(String(text[..<dots.lowerBound]))
            let last = try DurationText.read(String(text[dots.upperBound...]))
            guard first > .zero else {
                throw Refusal(reason: "a range starts above zero: nothing is coalesced with a wait of zero")
            }
            guard first <= last else { throw Refusal(reason: "the first of the two must be the shorter one") }
            return WaitSeries.steps(from: first, to: last)
        }
        var waits: Set<CoreDuration> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            waits.insert(try DurationText.read(String(part)))
        }
        guard waits.count <= WaitSeries.limit else {
            throw Refusal(reason: "at most \(WaitSeries.limit) waits can be compared at once")
        }
        return waits.sorted()
    }
}

extension OptionReading where Value == StatusLimits {
    static var limits: Self { Self("LIMITS", StatusLimits.init) }
}

extension OptionReading where Value == [UInt8] {
    static var delimiter: Self {
        Self("C", { character($0.bytes) }) { " must be one character, or \\t, not \"\($0.text)\"" }
    }

    private static func character(_ bytes: [UInt8]) -> [UInt8]? {
        if bytes == Array("\\t".utf8) { return [UInt8(ascii: "\t")] }
        let isCharacter = String(validating: bytes, as: UTF8.self)?.unicodeScalars.count == 1
        return isCharacter || bytes.count == 1 ? bytes : nil
    }
}

extension OptionReading where Value == JSONPointer {
    static var pointer: Self {
        Self("POINTER", { JSONPointer($0.bytes) }) { given in
            ": \"\(given.text)\" is not a JSON pointer: write one such as /device/id, with ~0 for ~ and ~1 for /"
        }
    }
}

// MARK: - One of a few

extension OptionReading where Value: Equatable & Sendable {
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

extension OptionReading where Value == OverlapPolicy {
    /// A rule for values that fall due while an execution of their key is running.
    static var whileRunning: Self {
        choice("RULE") { subcommand in
            let stored = [("queue", OverlapPolicy.queue), ("restart", .restart)]
            let all = [
                stored[0], ("cancel", .cancelRunning), stored[1], ("concurrent", .concurrent), ("skip", .skip),
            ]
            return subcommand.canDoWithoutStore ? all : stored
        }
    }
}

extension OptionReading where Value == Edges {
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
    static func format(_ formats: [Subcommand: [Value]]) -> Self {
        let usual = choice("FORMAT") { formats[$0, default: []].map { ($0.rawValue, $0) } }
        return Self(name: usual.name, completion: usual.completion) { given throws(Failure) in
            if given.text.hasPrefix("json"), Option.has(given.subcommand, "json") {
                throw given.refusal(" must be openmetrics, not \"\(given.text)\"; for objects use --json")
            }
            return try usual.read(given)
        }
    }
}
