internal import LullDurable

/// An option: everything that there is to say about it, once.
///
/// The parser, the pages of help, the manual, the completions, the hints at what was meant, the refusals of options that do not go
/// together, and the table in docs/command.md are made from ``all``. A new option is an entry there.
struct Option: Sendable {
    /// The name without the dashes.
    let name: StaticString
    let group: Group
    /// The subcommands that have it.
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

    /// What an option says about others.
    enum Rule {
        /// It has no meaning without one of these.
        case needs([String])
        case excludes(String)
        case hasNoMeaningWith(String)
    }

    enum Completion: Equatable {
        /// The option takes no value.
        case none
        case choice([String])
        case file
        /// `sqlite:` and a file.
        case store
        /// Anything else.
        case text
    }
}

extension Option {
    /// Creates an option with a value.
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

    /// Creates an option without a value.
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

    /// Returns whether a subcommand has an option.
    static func has(_ subcommand: Subcommand, _ name: String) -> Bool {
        all.contains { "\($0.name)" == name && $0.belongs(to: subcommand) }
    }

    /// Throws if an option of some lacks one that it needs, or does not go with another one.
    ///
    /// - Parameter given: Their names.
    static func check(_ given: Set<String>, _ subcommand: Subcommand) throws(Failure) {
        for option in all where given.contains("\(option.name)") {
            for rule in option.rules {
                switch rule {
                case .needs(let others):
                    // A command that always needs a store says so itself.
                    if others == ["store"], !subcommand.canDoWithoutStore { continue }
                    guard given.isDisjoint(with: others) else { continue }
                    let names = others.map { "--\($0)" }.joined(separator: " or ")
                    throw .usage("\(option.spelled) needs \(names)", subcommand)
                case .excludes(let other):
                    guard given.contains(other) else { continue }
                    throw .usage("--\(other) and \(option.spelled) exclude each other", subcommand)
                case .hasNoMeaningWith(let other):
                    guard given.contains(other) else { continue }
                    throw .usage("\(option.spelled) has no meaning with --\(other)", subcommand)
                }
            }
        }
    }
}
