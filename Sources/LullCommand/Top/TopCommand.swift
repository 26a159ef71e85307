internal import CLullCommand

/// `lull top`: shows the debouncers of a program that runs, through the socket at which `LullInspection` listens.
enum TopCommand {
    /// How often the table is shown anew, in nanoseconds of the program; its snapshots come four times as often.
    private static let interval: Int64 = 900_000_000

    static func run(_ operands: [Argument], _ options: CommandOptions) throws(Failure) -> Int32 {
        guard let operand = operands.first else {
            throw .usage("PATH is missing: the socket of a program, its LULL_INSPECT", .top)
        }
        if operand.pointee == 0 { throw .usage("PATH is empty: it is the socket of a program, its LULL_INSPECT", .top) }
        try operands.dropFirst().checkEmpty(for: .top)
        if options.showsPage { return try TopPage.run(operand, options) }
        var program = try ProgramConnection(to: operand)
        defer { program.close() }
        // Signals end it by themselves, also while nobody reads its output: it leaves nothing behind.
        Signals.unblock()
        var output = OutputBuffer(STDOUT_FILENO)
        var table = TopTable()
        var shown: Int64?
        while true {
            switch try program.next(output: STDOUT_FILENO) {
            case .line(let line):
                let snapshot = try program.snapshot(line)
                if options.printsObjects {
                    output.bytes += line
                    output.bytes.append("\n")
                } else if shown.map({ snapshot.time - $0 >= Self.interval || snapshot.time < $0 }) ?? true {
                    shown = snapshot.time
                    let isTerminal = isatty(STDOUT_FILENO) != 0
                    // Go to the upper left corner and clear the screen.
                    if isTerminal { output.bytes.append(string: "\u{1B}[H\u{1B}[J") }
                    table.append(
                        snapshot, width: Terminal.tableWidth, lines: isTerminal ? Terminal.lines : nil,
                        style: options.style, to: &output.bytes)
                }
                if case .closed = try output.drain() { return ExitStatus.success }
            case .silence: OutputBuffer.report([program.silence.message])
            case .end:
                OutputBuffer.report([program.end.message])
                return ExitStatus.success
            case .outputIsClosed: return ExitStatus.success
            case .signal(let number): Signals.end(by: number)
            }
        }
    }
}
