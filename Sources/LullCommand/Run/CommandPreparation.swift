internal import CLullCommand
internal import LullCore
internal import LullEngine

/// A command with everything that it gets.
struct PreparedCommand: Sendable {
    let id: Int64
    let key: Key
    /// Whether it is a run of a store, which others may execute.
    let isStored: Bool
    let records: Batch<Record>
    /// Its arguments and variables, or why there is no command.
    let texts: Result<(arguments: [[UInt8]], variables: [[UInt8]]), Refusal>
    /// The descriptor of its standard input; nil if it has yet to be made.
    var input: Int32?
    /// When it is too late to start it, in nanoseconds since the boot of the machine.
    var deadline = Int64.max

    func closeInput() {
        if let input { close(input) }
    }
}

/// Makes what a command gets of an execution.
struct CommandPreparation: Sendable {
    /// The name of the program, as it stands.
    let firstArgument: [UInt8]
    let template: CommandTemplate
    let keyRule: KeyRule
    let terminator: UInt8

    /// The environment variables that it may set.
    static let variables = executionVariables.map(\.name) + runVariables + [contextVariable, answerVariable]
    private static let executionVariables: [(name: String, detail: CommandTemplate.Detail)] = [
        ("LULL_KEY=", .key), ("LULL_COUNT=", .count), ("LULL_EDGE=", .cause),
    ]
    /// Set in addition for the runs of a store.
    private static let runVariables = ["LULL_RUN=", "LULL_ATTEMPT=", "LULL_FENCE="]
    private static let answerVariable = "LULL_ANSWER="
    /// Set in addition if the submit had a context.
    private static let contextVariable = "LULL_CONTEXT="

    private static let hint = "let the command read the records from its standard input"
    static let tooLong = Refusal(reason: "the arguments are too long; \(hint)")
    /// No system takes more; what is longer need not even reach the supervisor.
    private static let mostBytes = 6 << 20

    @Sendable func prepare(_ item: WorkItem, _ records: Batch<Record>) -> PreparedCommand {
        let texts: Result<(arguments: [[UInt8]], variables: [[UInt8]]), Refusal>
        do throws(Refusal) { texts = .success(try self.texts(of: item, records)) } catch { texts = .failure(error) }
        var command = PreparedCommand(
            id: item.id, key: item.key, isStored: item.attempt != nil, records: records, texts: texts, input: nil)
        // If it cannot be made now, the start tries again, and says why.
        if case .success = texts { command.input = try? CommandInput.file(records, terminator: terminator) }
        return command
    }

    private func texts(
        of item: WorkItem, _ records: Batch<Record>
    ) throws(Refusal) -> (arguments: [[UInt8]], variables: [[UInt8]]) {
        let details: (CommandTemplate.Detail) -> [UInt8] = { [keyRule] detail in
            switch detail {
            case .key: keyRule.plain(item.key)
            case .value: records.value
            case .count: Array("\(item.due.count)".utf8)
            case .cause: Array("\(item.due.cause.name)".utf8)
            }
        }
        let arguments = [firstArgument] + template.filled(details)
        var variables = Self.executionVariables.map { Array($0.name.utf8) + details($0.detail) }
        if let attempt = item.attempt, let fence = item.fence {
            let numbers = [item.id, Int64(attempt), fence]
            variables += zip(Self.runVariables, numbers).map { Array("\($0)\($1)".utf8) }
            variables.append(Array("\(Self.answerVariable)\(CommandAnswer.descriptor)".utf8))
        }
        if let context = item.context { variables.append(Array((Self.contextVariable + context).utf8)) }
        guard !(arguments + variables).contains(where: { $0.contains(0) }) else {
            throw Refusal(
                reason: "a NUL byte cannot be in an argument or in the environment; \(Self.hint)")
        }
        guard arguments.reduce(0, { $0 + $1.count }) <= Self.mostBytes else { throw Self.tooLong }
        return (arguments, variables)
    }
}
