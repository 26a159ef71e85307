internal import LullDurable

/// An option: everything that there is to say about it, once.
///
/// The parser, the pages of help, the manual, the completions, the hints at what was meant, the refusals of options
/// that do not go together, and the table in docs/command.md are made from ``all``. A new option is an entry there.
struct Option: Sendable {
    /// The name without the dashes.
    let name: StaticString
    let group: Group
    let subcommands: [Subcommand]
    /// The name of its value in help; nil if it takes none.
    let value: String?
    /// What it does.
    private let sentence: String
    /// What it does to subcommands for which the usual sentence is wrong.
    private let sentences: [Subcommand: String]
    private let rules: [Rule]
    /// What a shell offers as its value.
    let completion: @Sendable (Subcommand) -> Completion
    let apply: @Sendable (inout CommandOptions, OptionText) throws(Failure) -> Void
    /// Its place in the rules of a namespace, if it is an option of the policy.
    var field: PolicyOptions.Field?

    /// Options that stand together on a page of help.
    enum Group {
        case help
        case policy
        case records
        case commands
        case output
        case store
        case change
        case lease
        case tuning
        /// What only few subcommands have.
        case own
    }

    /// What an option says about others, each by its name, or by its name and a value: "store", "while-running
    /// restart".
    struct Rule: Sendable {
        let others: [String]
        /// Whether one of them has to be given, or none may be.
        var isNeed = false
        /// The value of the option itself to which the rule applies; nil for any.
        var value: String?
        var subcommands = Subcommand.allCases
        /// Returns what to say to those who break it.
        let message: @Sendable (_ option: String) -> String
    }

    /// What a shell completes: the value of an option, or the operands of a subcommand.
    enum Completion: Equatable {
        case none
        case choice([String])
        case file
        /// `sqlite:` and a file.
        case store
        /// A command with its arguments, after `--`.
        case command
        /// Anything else.
        case text
    }
}

extension Option {
    init<Value>(
        _ name: StaticString, _ group: Group, of subcommands: [Subcommand], _ reading: OptionReading<Value>,
        _ property: any WritableKeyPath<CommandOptions, Value?> & Sendable, _ sentence: String,
        but sentences: [Subcommand: String] = [:], _ rules: Rule...
    ) {
        self.init(
            name: name, group: group, subcommands: subcommands, value: reading.name, sentence: sentence,
            sentences: sentences, rules: rules, completion: reading.completion
        ) { options, text throws(Failure) in options[keyPath: property] = try reading.read(text) }
    }

    /// Creates an option that may be given several times.
    init<Value>(
        each name: StaticString, _ group: Group, of subcommands: [Subcommand], _ reading: OptionReading<Value>,
        _ property: any WritableKeyPath<CommandOptions, [Value]> & Sendable, _ sentence: String
    ) {
        self.init(
            name: name, group: group, subcommands: subcommands, value: reading.name, sentence: sentence,
            sentences: [:], rules: [], completion: reading.completion
        ) { options, text throws(Failure) in options[keyPath: property].append(try reading.read(text)) }
    }

    init(
        _ name: StaticString, _ group: Group, of subcommands: [Subcommand],
        _ property: any WritableKeyPath<CommandOptions, Bool> & Sendable, _ sentence: String,
        but sentences: [Subcommand: String] = [:], _ rules: Rule...
    ) {
        self.init(
            name: name, group: group, subcommands: subcommands, value: nil, sentence: sentence, sentences: sentences,
            rules: rules, completion: { _ in .none }
        ) { options, _ in options[keyPath: property] = true }
    }

    /// Creates an option of the policy.
    ///
    /// - Parameters:
    ///   - stored: Returns its value in the rules of a namespace.
    ///   - defaultValue: Returns its default under such rules; nil if there is none, so that every value is shown.
    init<Value: Equatable & Sendable>(
        _ name: StaticString, of subcommands: [Subcommand] = Subcommand.withPolicy, _ reading: OptionReading<Value>,
        _ property: any WritableKeyPath<PolicyOptions, Value?> & Sendable, _ sentence: String,
        but sentences: [Subcommand: String] = [:], _ rules: Rule...,
        stored: @escaping @Sendable (DurableRules) -> Value?,
        default defaultValue: @escaping @Sendable (DurableRules) -> Value? = { _ in nil }
    ) {
        self.init(
            name: name, group: .policy, subcommands: subcommands, value: reading.name, sentence: sentence,
            sentences: sentences, rules: rules, completion: reading.completion
        ) { options, text throws(Failure) in options.policy[keyPath: property] = try reading.read(text) }
        field = PolicyOptions.Field("\(name)", property, of: stored, default: defaultValue, reading.write)
    }
}

extension Option {
    /// The name with its dashes.
    var spelled: String { "--\(name)" }

    /// Its name and that of its value, as on a page of help.
    var term: String { value.map { "\(spelled) \($0)" } ?? spelled }

    func belongs(to subcommand: Subcommand) -> Bool { subcommands.contains(subcommand) }

    /// Returns what it does to a subcommand.
    func explanation(for subcommand: Subcommand) -> String { sentences[subcommand] ?? sentence }

    static func has(_ subcommand: Subcommand, _ name: String) -> Bool {
        all.contains { "\($0.name)" == name && $0.belongs(to: subcommand) }
    }

    /// Throws if an option of some lacks one that it needs, or does not go with another one.
    ///
    /// - Parameters:
    ///   - given: Their names and values.
    ///   - known: The names of all options that might be given; nil for all that there are. Rules about others are left
    ///     out.
    static func check(
        _ given: [String: String], _ subcommand: Subcommand, among known: [String]? = nil
    ) throws(Failure) {
        for option in all {
            guard let value = given["\(option.name)"] else { continue }
            for rule in option.rules where rule.subcommands.contains(subcommand) && value == rule.value ?? value {
                // A command that always needs a store says so itself.
                if rule.others == ["store"], !subcommand.canDoWithoutStore { continue }
                if let known, !rule.others.allSatisfy({ known.contains(String($0.prefix { $0 != " " })) }) { continue }
                let isGiven = rule.others.contains { other in
                    let words = other.split(separator: " ").map(String.init)
                    return given[words[0]].map { words.count == 1 || $0 == words[1] } ?? false
                }
                if isGiven == rule.isNeed { continue }
                throw .usage(rule.message(option.spelled + (rule.value.map { " \($0)" } ?? "")), subcommand)
            }
        }
    }
}

extension Option.Rule {
    /// The option, or one value of it, has no meaning without one of some others.
    static func needs(
        _ others: String..., for value: String? = nil, in subcommands: [Subcommand] = Subcommand.allCases
    ) -> Self {
        let names = others.map { "--\($0)" }.joined(separator: " or ")
        return Self(others: others, isNeed: true, value: value, subcommands: subcommands) { "\($0) needs \(names)" }
    }

    /// The option needs one of some values of another.
    static func needs(_ other: String, with values: [String]) -> Self {
        let names = values.joined(separator: " or ")
        return Self(others: values.map { "\(other) \($0)" }, isNeed: true) { "\($0) needs --\(other) \(names)" }
    }

    static func excludes(_ other: String) -> Self {
        Self(others: [other]) { "--\(other) and \($0) exclude each other" }
    }

    static func hasNoMeaningWith(_ other: String) -> Self {
        Self(others: [other]) { "\($0) has no meaning with --\(other)" }
    }

    /// The option, or one value of it, does not go with another, for a reason of its own.
    static func refuses(_ other: String, for value: String? = nil, _ message: String) -> Self {
        Self(others: [other], value: value) { "\($0) \(message)" }
    }
}
