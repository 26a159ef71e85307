internal import CLullCommand
internal import Lull
internal import LullCore
internal import LullDurable

/// `lull submit`: submits one value to a store, and returns when it has been recorded.
enum SubmitCommand {
    static func run(_ operands: [Argument], _ options: CommandOptions) throws(Failure) -> Int32 {
        guard let key = operands.first else { throw .usage("KEY is missing", .submit) }
        try operands.dropFirst(2).checkEmpty(for: .submit)
        let opened = try OpenedNamespace(options, .submit)
        let submission = DurableSubmission(
            namespace: options.namespace, key: Invocation.bytes(key),
            value: try operands.dropFirst().first.map(value) ?? [], wait: options.after, token: options.token)
        let receipt = try opened.store.ask(for: .submit) { () throws(DurableError) in
            guard let answer = try opened.store.submit([submission]).first else {
                preconditionFailure("each submit has an answer")
            }
            return try answer.get()
        }
        guard options.printsObjects else { return ExitStatus.success }
        var output = OutputBuffer(STDOUT_FILENO)
        let json: JSONValue = [
            "key": .bytes(receipt.key), "generation": .number(receipt.generation), "dueIn": .seconds(receipt.dueIn),
        ]
        json.appendLine(to: &output.bytes)
        _ = try output.drain()
        return ExitStatus.success
    }

    /// Returns the value of an argument, or for `-` all of standard input, whatever its bytes.
    private static func value(_ argument: Argument) throws(Failure) -> [UInt8] {
        let bytes = Invocation.bytes(argument)
        guard bytes == [UInt8(ascii: "-")] else { return bytes }
        var value: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count == 0 { return value }
            if count < 0 {
                let code = lull_errno()
                if code == EINTR { continue }
                guard code == EAGAIN || code == EWOULDBLOCK else { throw .system("cannot read", code) }
                var interest = pollfd(descriptor: STDIN_FILENO, Int32(POLLIN))
                poll(&interest, 1, -1)
                continue
            }
            value += buffer[..<count]
            if value.count > RecordReader.longest {
                throw Failure(
                    status: ExitStatus.badData,
                    message: "the value is longer than \(RecordReader.longest >> 20) MiB, and was not submitted")
            }
        }
    }
}
