internal import CLullCommand
internal import LullCore
internal import LullDurable

/// An argument as the operating system passes it: it lives as long as the program, and need not be UTF-8.
typealias Argument = UnsafeMutablePointer<CChar>

extension Collection<Argument> {
    /// Throws if there is an argument that the subcommand does not take.
    func checkEmpty(for subcommand: Subcommand) throws(Failure) {
        guard let first else { return }
        // It may be the URL of a store, whose option was forgotten.
        throw .usage("unexpected argument \(ServerURL.withoutPassword(String(cString: first)))", subcommand)
    }
}

/// The parsed arguments of a subcommand.
struct Invocation {
    let subcommand: Subcommand
    var options = CommandOptions()
    /// The arguments after the options: COMMAND with its arguments, TRACE, or KEY and VALUE.
    var operands: [Argument] = []
    var asksForHelp = false

    /// Parses the arguments with the C library's `getopt_long`.
    ///
    /// - Parameter arguments: The arguments from the subcommand's name on.
    init(_ subcommand: Subcommand, _ arguments: [Argument]) throws(Failure) {
        self.subcommand = subcommand
        let known = Option.allCases.filter { $0.belongs(to: subcommand) }
        var table = known.map { known in
            // Proof: a StaticString of ASCII is null-terminated, and lives as long as the program.
            let name = UnsafeRawPointer(known.name.utf8Start).assumingMemoryBound(to: CChar.self)
            return option(name: name, has_arg: known.takesValue ? 1 : 0, flag: nil, val: known.rawValue)
        }
        table.append(option(name: nil, has_arg: 0, flag: nil, val: 0))
        var vector: [Argument?] = arguments + [nil]
        // "+" stops at COMMAND, whose arguments are its own. ":" suppresses getopt_long's messages.
        let short = subcommand == .run || subcommand == .work ? "+:h" : ":h"
        lull_begin_options()
        while !asksForHelp {
            let code = getopt_long(Int32(arguments.count), &vector, short, table, nil)
            if code == -1 { break }
            if code == Int32(UInt8(ascii: "h")) {
                asksForHelp = true
            } else if let option = Option(rawValue: code) {
                try apply(option, lull_option_value())
            } else {
                throw refusal(code, vector)
            }
        }
        operands = vector[Int(lull_option_index())..<arguments.count].compactMap { $0 }
    }

    /// The only operand: a trace.
    func trace() throws(Failure) -> Argument {
        guard let trace = operands.first else {
            throw .usage("TRACE is missing: a file, or - for standard input", subcommand)
        }
        try operands.dropFirst().checkEmpty(for: subcommand)
        return trace
    }

    /// Returns the failure for an option that getopt_long has refused.
    private func refusal(_ code: Int32, _ vector: [Argument?]) -> Failure {
        let wrong = lull_wrong_option()
        if let option = Option(rawValue: wrong) {
            let what = code == Int32(UInt8(ascii: ":")) ? "needs a value" : "takes no value"
            return .usage("--\(option.name) \(what)", subcommand)
        }
        if wrong > 0, let scalar = Unicode.Scalar(UInt32(wrong)) {
            return .usage("there is no option -\(Character(scalar))\(operandHint)", subcommand)
        }
        let text = vector[Int(lull_option_index()) - 1].map { String(cString: $0) } ?? ""
        let name = text.prefix { $0 != "=" }
        let meant = Option.allCases.filter { "--\($0.name)".hasPrefix(name) }
        let ours = meant.filter { $0.belongs(to: subcommand) }
        if ours.count > 1 {
            let list = ours.map { "--\($0.name)" }.joined(separator: " or ")
            return .usage("\(name) could be \(list)", subcommand)
        }
        let owners = Subcommand.allCases.filter { owner in meant.contains { $0.belongs(to: owner) } }
        if name == "--format", Option.json.belongs(to: subcommand) {
            return .usage("lull \(subcommand.rawValue) has no option --format; use --json", subcommand)
        }
        let known = Option.allCases.filter { $0.belongs(to: subcommand) }.map { "--\($0.name)" }
        let nearest = Spelling.nearest(to: String(name), among: known).map { ": did you mean \($0)?" }
        let hint = owners.map { "; lull \($0.rawValue) has one" }.first ?? nearest ?? operandHint
        return .usage("lull \(subcommand.rawValue) has no option \(name)\(hint)", subcommand)
    }

    /// The refused option may have been meant as a key.
    private var operandHint: String {
        guard subcommand.takesKey else { return "" }
        return "; a KEY that begins with - comes after --, such as: lull \(subcommand.rawValue) … -- -key"
    }

    private mutating func apply(_ option: Option, _ argument: Argument?) throws(Failure) {
        let text = argument.map { String(cString: $0) } ?? ""
        if option.needsStore { options.storeOptions.append(option) }
        switch option {
        case .help: asksForHelp = true
        case .wait: options.policy.wait = try duration(option, text)
        case .throttle: options.policy.throttle = try duration(option, text)
        case .maxWait: options.policy.maxWait = try duration(option, text)
        case .maxCount: options.policy.maxCount = try number(option, text)
        case .spacing: options.policy.spacing = try duration(option, text)
        case .edges: options.policy.edges = try edges(text)
        case .delayRule: options.policy.delayRule = try choice(option, text, OptionValues.delayRules)
        case .combine: options.policy.combination = try choice(option, text, OptionValues.combinations)
        case .maxBatch: options.policy.maxBatch = try number(option, text)
        case .null: options.terminator = 0
        case .keyField: options.keyField = try number(option, text)
        case .keyJSON: options.keyPointer = try pointer(option, argument)
        case .delayField: options.delayField = try number(option, text)
        case .delayJSON: options.delayPointer = try pointer(option, argument)
        case .delimiter: options.delimiter = try delimiter(argument)
        case .strict: options.isStrict = true
        case .maxKeys: options.maxKeys = try number(option, text)
        case .format:
            if text.hasPrefix("json"), Option.json.belongs(to: subcommand) {
                throw .usage("--format must be openmetrics, not \"\(text)\"; for objects use --json", subcommand)
            }
            options.format = try choice(
                option, text, CommandOptions.Format.known(to: subcommand).map { ($0.rawValue, $0) })
        case .atEnd:
            options.atEnd = try choice(
                option, text, CommandOptions.AtEnd.known(to: subcommand).map { ($0.rawValue, $0) })
        case .stats: options.showsStatistics = true
        case .whileRunning: options.whileRunning = try choice(option, text, OptionValues.whileRunning)
        case .killAfter: options.killAfter = try duration(option, text)
        case .jobs: options.jobs = try number(option, text)
        case .failFast: options.failsFast = true
        case .waits: options.waits = try waits(text)
        case .targetSaving: options.targets.saving = try share(option, text)
        case .targetDelay: options.targets.delay = try duration(option, text)
        case .byKey: options.tunesKeys = true
        case .svg: options.picture = argument
        case .diagram: options.showsDiagram = true
        case .record: options.recording = argument
        case .recordValues: options.recordsValues = true
        case .hashKeys: options.hashesKeys = true
        case .store: options.store = try unchanged(option, argument)
        case .namespace: options.givenNamespace = try name(option, argument)
        case .patience: options.patience = try duration(option, text)
        case .changePolicy: options.changesPolicy = true
        case .lease: options.lease = try lease(option, text)
        case .maxAttempts: options.maxAttempts = try number(option, text)
        case .after: options.after = try duration(option, text)
        case .token: options.token = try name(option, argument)
        case .json: options.format = .json
        case .watch: options.watches = true
        case .ended: options.listsEnds = true
        case .failIf: options.limits = try limits(text)
        case .limit: options.limit = try number(option, text)
        case .all: options.takesAll = true
        case .apply: options.applies = true
        }
    }

    // MARK: - Values

    private func duration(_ option: Option, _ text: String) throws(Failure) -> CoreDuration {
        do {
            return try DurationText.parse(text)
        } catch {
            throw .usage("--\(option.name): \"\(text)\" \(error.explanation(of: text))", subcommand)
        }
    }

    /// Returns an argument as text, and refuses invalid UTF-8: repaired, different arguments could become the same.
    private func unchanged(_ option: Option, _ argument: Argument?) throws(Failure) -> String {
        guard let text = String(validating: Self.bytes(argument), as: UTF8.self) else {
            throw .usage("--\(option.name) must be UTF-8", subcommand)
        }
        return text
    }

    private func name(_ option: Option, _ argument: Argument?) throws(Failure) -> String {
        let text = try unchanged(option, argument)
        if text.isEmpty { throw .usage("--\(option.name) must not be empty", subcommand) }
        return text
    }

    private func lease(_ option: Option, _ text: String) throws(Failure) -> CoreDuration {
        let lease = try duration(option, text)
        if lease < .seconds(1) { throw .usage("--\(option.name) must be at least 1s, not \(text)", subcommand) }
        return lease
    }

    private func waits(_ text: String) throws(Failure) -> [CoreDuration] {
        do {
            return try WaitSeries.parse(text)
        } catch {
            throw .usage("--waits: \(error.explanation)", subcommand)
        }
    }

    private func limits(_ text: String) throws(Failure) -> StatusLimits {
        do {
            return try StatusLimits(text)
        } catch {
            throw .usage("--fail-if: \(error.explanation)", subcommand)
        }
    }

    private func share(_ option: Option, _ text: String) throws(Failure) -> Double {
        guard let share = Percent.parse(text) else {
            throw .usage("--\(option.name) must be a percentage such as 90%, not \"\(text)\"", subcommand)
        }
        return share
    }

    private func number(_ option: Option, _ text: String) throws(Failure) -> Int {
        guard let number = Int(text), number >= 1, text.first != "+" else {
            throw .usage("--\(option.name) must be a whole number of at least 1, not \"\(text)\"", subcommand)
        }
        return number
    }

    private func choice<Choice>(
        _ option: Option, _ text: String, _ choices: [(name: String, choice: Choice)]
    ) throws(Failure) -> Choice {
        guard let found = choices.first(where: { $0.name == text }) else {
            let names = choices.map(\.name)
            let others = names.dropLast().joined(separator: ", ")
            let list = (others.isEmpty ? "" : others + " or ") + (names.last ?? "")
            throw .usage("--\(option.name) must be \(list), not \"\(text)\"", subcommand)
        }
        return found.choice
    }

    private func edges(_ text: String) throws(Failure) -> Edges {
        var edges: Edges = []
        let names = text.split(separator: ",", omittingEmptySubsequences: false)
        for name in names {
            // "both" is valid only by itself.
            let choices = names.count == 1 ? OptionValues.edges : OptionValues.edges.filter { $0.name != "both" }
            edges.formUnion(try choice(.edges, String(name), choices))
        }
        return edges
    }

    private func delimiter(_ argument: Argument?) throws(Failure) -> [UInt8] {
        let bytes = Self.bytes(argument)
        if bytes == Array("\\t".utf8) { return [UInt8(ascii: "\t")] }
        let isCharacter = String(validating: bytes, as: UTF8.self)?.unicodeScalars.count == 1
        guard isCharacter || bytes.count == 1 else {
            let text = String(decoding: bytes, as: UTF8.self)
            throw .usage("--delimiter must be one character, or \\t, not \"\(text)\"", subcommand)
        }
        return bytes
    }

    private func pointer(_ option: Option, _ argument: Argument?) throws(Failure) -> JSONPointer {
        let bytes = Self.bytes(argument)
        guard let pointer = JSONPointer(bytes) else {
            let text = String(decoding: bytes, as: UTF8.self)
            throw .usage(
                "--\(option.name): \"\(text)\" is not a JSON pointer: write one such as /device/id, with ~0 for ~ and ~1 "
                    + "for /", subcommand)
        }
        return pointer
    }

    /// Returns the bytes of an argument, which need not be UTF-8.
    static func bytes(_ argument: Argument?) -> [UInt8] {
        guard let argument else { return [] }
        return Array(UnsafeRawBufferPointer(start: argument, count: strlen(argument)))
    }
}

extension CommandOptions {
    /// The number of processor cores, which is the default of `--jobs`.
    static var cores: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}
