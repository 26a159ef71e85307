internal import CLullSystem
internal import Lull
internal import LullCore
internal import LullDurable
internal import LullSQLite

/// `lull submit`: hands one value to a store, and returns when it has been recorded.
enum SubmitCommand {
    static func run(_ operands: [Argument], _ settings: Settings) throws(Failure) -> Int32 {
        guard let key = operands.first else { throw .usage("KEY is missing", .submit) }
        if operands.count > 2 {
            throw .usage("unexpected argument \(String(cString: operands[2]))", .submit)
        }
        let rules = try settings.rules(for: .submit)
        let file = try settings.store(creates: rules != nil, for: .submit)
        let submission = DurableSubmission(
            namespace: settings.namespace, key: Invocation.bytes(key),
            value: operands.count > 1 ? Invocation.bytes(operands[1]) : [], wait: settings.after,
            token: settings.token)
        let receipt: DurableReceipt
        do throws(DurableError) {
            receipt = try file.write { transaction throws(DurableError) in
                _ = try transaction.open(submission.namespace, rules)
                return try transaction.submit(submission)
            }
        } catch {
            throw Failure(error, .submit)
        }
        guard settings.format == .json else { return ExitStatus.success }
        var output = Outlet(STDOUT_FILENO)
        output.text.append("{\"key\":")
        JSONText.append(receipt.key, to: &output.text)
        output.text.append(string: ",\"generation\":\(receipt.generation),\"dueIn\":")
        if let due = receipt.dueIn {
            DecimalSeconds.append(CoreDuration(due).nanoseconds, to: &output.text)
        } else {
            output.text.append("null")
        }
        output.text.append("}\n")
        _ = try output.drain()
        return ExitStatus.success
    }
}
