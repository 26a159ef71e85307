internal import CLullCommand

/// The exit statuses, after `sysexits.h`.
enum ExitStatus {
    static let success: Int32 = 0
    /// A command has failed.
    static let commandFailed: Int32 = 1
    static let wrongUsage: Int32 = 64
    static let badData: Int32 = 65
    static let inputOutput: Int32 = 74
    static let cannotExecute: Int32 = 126
    static let notFound: Int32 = 127
}

/// Why the program ends early: a message of one line, and the exit status.
struct Failure: Error, Equatable {
    let status: Int32
    /// The message, without the program's name in front.
    let message: String
    /// Whether its cause is a store that may be usable again after a while.
    var mayPass = false

    /// Wrong usage; the message ends with the help page to read.
    static func usage(_ message: String, _ subcommand: Subcommand? = nil) -> Failure {
        let page = subcommand.map { "lull \($0.rawValue) --help" } ?? "lull --help"
        return Failure(status: ExitStatus.wrongUsage, message: "\(message) (see \(page))")
    }

    static func failed(_ message: String) -> Failure { Failure(status: ExitStatus.commandFailed, message: message) }
    static func badData(_ message: String) -> Failure { Failure(status: ExitStatus.badData, message: message) }
    static func inputOutput(_ message: String) -> Failure { Failure(status: ExitStatus.inputOutput, message: message) }

    /// A system call that failed, with the reason.
    static func system(_ what: String, _ code: Int32 = lull_errno()) -> Failure {
        .inputOutput("\(what): \(reason(code))")
    }

    /// Returns the system's text for an error code.
    static func reason(_ code: Int32) -> String {
        strerror(code).map { String(cString: $0) } ?? "error \(code)"
    }

    /// Returns the failure with the name of the file that it concerns in front.
    func of(_ file: String) -> Failure { Failure(status: status, message: "\(file): \(message)") }
}

/// Why a text has no value that can be used, for the end of a message.
struct Refusal: Error, Equatable {
    let reason: String
}
