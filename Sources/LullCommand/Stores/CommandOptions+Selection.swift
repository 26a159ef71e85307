internal import CLullCommand
internal import Lull
internal import LullDurable

// Changing many keys or dead runs: what is selected, and the question before it.

extension CommandOptions {
    /// What the options select; nil if they select nothing.
    var selection: DurableSelection? {
        if !takesAll, prefix == nil, olderThan == nil, errorPart == nil { return nil }
        return DurableSelection(
            prefix: Array((prefix ?? "").utf8), olderThan: olderThan.map { Duration($0) }, error: errorPart)
    }

    /// Throws if something is given by its name and by a condition.
    func checkSelection(besides operands: [Argument], _ name: String, _ subcommand: Subcommand) throws(Failure) {
        if selection == nil || operands.isEmpty { return }
        throw .usage("\(name) does not go with --all, --prefix, --older-than and --error", subcommand)
    }

    /// Asks before many things are changed, if a person is there to answer. Throws if the answer is not yes.
    ///
    /// - Parameter what: What is about to happen, such as `cancel 12 keys`.
    func confirm(_ what: String) throws(Failure) {
        if isConfirmed || !CommandOptions.canAsk { return }
        var log = OutputBuffer(STDERR_FILENO)
        log.bytes.append(string: "lull: \(what) of \(Terminal.shown(namespace))? [y/N] ")
        _ = try log.drain()
        let answer = readLine()?.lowercased()
        if answer == "y" || answer == "yes" { return }
        // Without an answer, at the end of the input, the line still has to end.
        if answer == nil {
            log.bytes.append("\n")
            _ = try log.drain()
        }
        throw .failed("nothing was changed")
    }

    /// Whether there is a terminal to ask on.
    static var canAsk: Bool { isatty(STDIN_FILENO) != 0 && isatty(STDERR_FILENO) != 0 }
}
