internal import CLullCommand
internal import LullCore
internal import LullDurable

/// An argument as the operating system passes it: it lives as long as the program, and need not be UTF-8.
typealias Argument = UnsafeMutablePointer<CChar>

extension Collection<Argument> {
    /// Throws if there is an argument that the subcommand does not take.
    func checkEmpty(for subcommand: Subcommand) throws(Failure) {
        guard let first else { return }
        // It may be the URL of a store, whose option was forgotten.
        throw .usage("unexpected argument \(ServerURL.withoutPassword(String(cString: first)))", subcommand)
    }
}

/// The parsed arguments of a subcommand.
struct Invocation {
    let subcommand: Subcommand
    var options = CommandOptions()
    /// The arguments after the options: COMMAND with its arguments, TRACE, or KEY and VALUE.
    var operands: [Argument] = []

    /// getopt_long's code for the first option: greater than those of short options, which are characters.
    private static let firstCode: Int32 = 256

    /// Parses the arguments with the C library's `getopt_long`.
    ///
    /// - Parameter arguments: The arguments from the subcommand's name on.
    init(_ subcommand: Subcommand, _ arguments: [Argument]) throws(Failure) {
        self.subcommand = subcommand
        var table = zip(Option.all, Self.firstCode...).filter { $0.0.belongs(to: subcommand) }.map { known, code in
            // Proof: a StaticString of ASCII is null-terminated, and lives as long as the program.
            let name = UnsafeRawPointer(known.name.utf8Start).assumingMemoryBound(to: CChar.self)
            return option(name: name, has_arg: known.value == nil ? 0 : 1, flag: nil, val: code)
        }
        table.append(option(name: nil, has_arg: 0, flag: nil, val: 0))
        var vector: [Argument?] = arguments + [nil]
        // "+" stops at COMMAND, whose arguments are its own. ":" suppresses getopt_long's messages.
        let short = subcommand.operands == .command ? "+:h" : ":h"
        var given: [String: String] = [:]
        lull_begin_options()
        while !options.asksForHelp {
            let code = getopt_long(Int32(arguments.count), &vector, short, table, nil)
            if code == -1 { break }
            if code == Int32(UInt8(ascii: "h")) {
                options.asksForHelp = true
            } else if let option = Self.known(code) {
                let name = "\(option.name)"
                let text = OptionText(name: name, argument: lull_option_value(), subcommand: subcommand)
                given[name] = text.text
                try option.apply(&options, text)
            } else {
                throw refusal(code, vector)
            }
        }
        operands = vector[Int(lull_option_index())..<arguments.count].compactMap { $0 }
        if !options.asksForHelp { try Option.check(given, subcommand) }
    }

    private static func known(_ code: Int32) -> Option? {
        let index = Int(code - firstCode)
        return Option.all.indices.contains(index) ? Option.all[index] : nil
    }

    /// The only operand: a trace.
    func trace() throws(Failure) -> Argument {
        guard let trace = operands.first else {
            throw .usage("TRACE is missing: a file, or - for standard input", subcommand)
        }
        try operands.dropFirst().checkEmpty(for: subcommand)
        return trace
    }

    /// Returns the failure for an option that getopt_long has refused.
    private func refusal(_ code: Int32, _ vector: [Argument?]) -> Failure {
        let wrong = lull_wrong_option()
        if let option = Self.known(wrong) {
            let what = code == Int32(UInt8(ascii: ":")) ? "needs a value" : "takes no value"
            return .usage("\(option.spelled) \(what)", subcommand)
        }
        if wrong > 0, let scalar = Unicode.Scalar(UInt32(wrong)) {
            return .usage("there is no option -\(Character(scalar))\(operandHint)", subcommand)
        }
        let text = vector[Int(lull_option_index()) - 1].map { String(cString: $0) } ?? ""
        let name = text.prefix { $0 != "=" }
        let meant = Option.all.filter { $0.spelled.hasPrefix(name) }
        let ours = meant.filter { $0.belongs(to: subcommand) }
        if ours.count > 1 {
            let list = ours.map(\.spelled).joined(separator: " or ")
            return .usage("\(name) could be \(list)", subcommand)
        }
        if name == "--format", Option.has(subcommand, "json") {
            return .usage("lull \(subcommand.rawValue) has no option --format; use --json", subcommand)
        }
        func hint(_ option: Option) -> String? {
            option.subcommands.first.map { "; lull \($0.rawValue) has one" }
        }
        let known = subcommand.options.map(\.spelled)
        let nearest = SpellingCorrection.nearest(to: String(name), among: known).map { ": did you mean \($0)?" }
        let hint = meant.first { $0.spelled == name }.flatMap(hint) ?? nearest ?? operandHint
        return .usage("lull \(subcommand.rawValue) has no option \(name)\(hint)", subcommand)
    }

    /// The refused option may have been meant as a key.
    private var operandHint: String {
        guard subcommand.takesKey else { return "" }
        return "; a KEY that begins with - comes after --, such as: lull \(subcommand.rawValue) … -- -key"
    }

    static func bytes(_ argument: Argument?) -> [UInt8] {
        guard let argument else { return [] }
        return Array(UnsafeRawBufferPointer(start: argument, count: strlen(argument)))
    }
}

extension CommandOptions {
    /// The number of processor cores, which is the default of `--jobs`.
    static var cores: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}
