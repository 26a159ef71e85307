internal import CLullCommand

/// The statuses that the program ends with, after `sysexits.h`.
enum ExitStatus {
    static let success: Int32 = 0
    /// A command that `lull run` started has failed.
    static let commandFailed: Int32 = 1
    static let wrongUsage: Int32 = 64
    static let badData: Int32 = 65
    static let inputOutput: Int32 = 74
    static let cannotExecute: Int32 = 126
    static let notFound: Int32 = 127
}

/// Why the program ends early: one line for its user, and the status.
struct Failure: Error, Equatable {
    let status: Int32
    /// Without the program's name in front.
    let message: String

    /// Arguments that make no sense; the message ends in a hint where to look.
    static func usage(_ message: String, _ subcommand: Subcommand? = nil) -> Failure {
        let page = subcommand.map { "lull \($0.rawValue) --help" } ?? "lull --help"
        return Failure(status: ExitStatus.wrongUsage, message: "\(message) (see \(page))")
    }

    /// A first argument that is neither a command nor an option.
    static func unknown(_ name: String) -> Failure {
        guard name.hasPrefix("-") else {
            let meant: String? =
                if name == "version" {
                    "--version"
                } else if let owner = Subcommand.allCases.first(where: { $0.takes(name) }) {
                    "'lull \(owner.rawValue) \(name)'"
                } else {
                    Spelling.nearest(to: name, among: Help.commands).map { "'\($0)'" }
                }
            return .usage("unknown command '\(name)'\(meant.map { ": did you mean \($0)?" } ?? "")")
        }
        let option = name.prefix { $0 != "=" }
        if let known = Option.allCases.first(where: { "--\($0.name)" == option }),
            let owner = Subcommand.allCases.first(where: { known.belongs(to: $0) })
        {
            return .usage("\(option) comes after a command, as in lull \(owner.rawValue) \(option)")
        }
        let hint = Spelling.nearest(to: name, among: ["--help", "--version"]).map { ": did you mean \($0)?" } ?? ""
        return .usage("unknown option \(name)\(hint)")
    }

    /// Something that the operating system refused, with the reason it gave last.
    static func system(_ what: String, _ code: Int32 = lull_errno()) -> Failure {
        Failure(status: ExitStatus.inputOutput, message: "\(what): \(reason(code))")
    }

    /// The operating system's words for an error.
    static func reason(_ code: Int32) -> String {
        strerror(code).map { String(cString: $0) } ?? "error \(code)"
    }
}
