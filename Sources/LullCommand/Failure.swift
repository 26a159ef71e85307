internal import CLullCommand
internal import LullDurable

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

    /// A first argument that is neither a command nor an option of `lull`, with what was probably meant.
    static func unknown(_ name: String) -> Failure {
        guard name.hasPrefix("-") else {
            let shown = ServerURL.withoutPassword(name)
            var status = stat()
            if stat(name, &status) == 0, UInt32(status.st_mode) & UInt32(S_IFMT) != UInt32(S_IFDIR) {
                let command =
                    switch name.split(separator: ".").last {
                    case "json", "jsonl": "tune \(shown)"
                    case "db", "sqlite": "status --store sqlite:\(shown)"
                    default: "filter --wait 500ms < \(shown)"
                    }
                return .usage("\(shown) is a file, not a command: try lull \(command)")
            }
            let meant: String? =
                if name == Help.topic {
                    "'lull help \(name)'"
                } else if let owner = Subcommand.allCases.first(where: { $0.takes(keyword: name) }) {
                    "'lull \(owner.rawValue) \(name)'"
                } else {
                    Spelling.nearest(to: name, among: Help.commands).map { "'\($0)'" }
                }
            return .usage("unknown command '\(shown)'\(meant.map { ": did you mean \($0)?" } ?? "")")
        }
        let option = name.prefix { $0 != "=" }
        if let owner = Option.all.first(where: { $0.spelled == option })?.subcommands.first {
            return .usage("\(option) comes after a command, as in lull \(owner.rawValue) \(option)")
        }
        let hint = Spelling.nearest(to: name, among: ["--help", "--version"]).map { ": did you mean \($0)?" } ?? ""
        return .usage("unknown option \(option)\(hint)")
    }

    /// A system call that failed, with the reason.
    static func system(_ what: String, _ code: Int32 = lull_errno()) -> Failure {
        Failure(status: ExitStatus.inputOutput, message: "\(what): \(reason(code))")
    }

    /// Returns the system's text for an error code.
    static func reason(_ code: Int32) -> String {
        strerror(code).map { String(cString: $0) } ?? "error \(code)"
    }
}
