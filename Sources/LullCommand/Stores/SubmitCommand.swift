internal import CLullCommand
internal import LullDurable
internal import LullInspection

/// `lull submit`: submits one value to a store, and returns when it has been recorded.
enum SubmitCommand {
    static func run(_ operands: [Argument], _ options: CommandOptions) throws(Failure) -> Int32 {
        guard let key = operands.first else { throw .usage("KEY is missing", .submit) }
        try operands.dropFirst(2).checkEmpty(for: .submit)
        if operands.count == 1 { try checkInputIsEmpty() }
        let opened = try OpenedNamespace(options, .submit)
        let bytes = try operands.dropFirst().first.map(value) ?? []
        if CombineRule(opened.rules) == .mergeJSON {
            do throws(JSONScanner.Fault) { _ = try bytes.withUnsafeBufferPointer(JSONScanner.whole) } catch {
                throw .badData("the value is not JSON, and was not submitted: \(error)")
            }
        }
        let submission = DurableSubmission(
            namespace: options.namespace, key: Invocation.bytes(key), value: bytes, wait: options.after,
            token: options.token, context: options.context)
        let receipt = try opened.store.change(for: .submit) { try await $0.submit([submission])[0].get() }
        guard options.printsObjects else { return ExitStatus.success }
        return OutputBuffer.printDone("the value was recorded", as: receipt.json.line)
    }

    /// Throws if something is piped in: without VALUE an empty value would be recorded in its place.
    private static func checkInputIsEmpty() throws(Failure) {
        // A terminal, or /dev/null.
        if lull_is_device(STDIN_FILENO) != 0 { return }
        var interest = pollfd(descriptor: STDIN_FILENO, Int32(POLLIN))
        let isReady = poll(&interest, 1, Self.patience) != 0
        if isReady, lull_waiting_bytes(STDIN_FILENO) <= 0 { return }
        let what = isReady ? "has something" : "is a pipe that stays open"
        throw .usage("VALUE is missing, but standard input \(what): give - to submit it, or '' for no value", .submit)
    }

    /// How long, in milliseconds, a pipe may be silent before it has an end: those of cron have.
    private static let patience: Int32 = 1000

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
                throw .badData(
                    "the value is longer than \(RecordReader.longest >> 20) MiB, and was not submitted")
            }
        }
    }
}
