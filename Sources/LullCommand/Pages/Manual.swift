/// `lull man`: the texts of `--help` as pages for `man`.
enum Manual {
    /// Returns the page of a subcommand, or of the command as a whole.
    static func make(_ arguments: [String]) throws(Failure) -> String {
        if arguments == ["--help"] || arguments == ["-h"] { return help }
        guard arguments.count <= 1 else { throw .usage("unexpected argument \(arguments[1])") }
        guard let name = arguments.first else { return overview }
        // The names of all pages, for the script that installs them.
        if name == "--list" { return Help.pages.map { "\($0)\n" }.joined() }
        guard let help = Help.page(named: name) else { throw .unknown(name) }
        return page(of: name, help)
    }

    static let help = """
        Usage: lull man [COMMAND] > FILE

        Prints the manual page of a command, or of lull as a whole, in the format that
        man reads. make install puts all of them where man finds them.

          --list                 print the names of the commands that have a page

        """

    private static func page(of name: String, _ help: String) -> String {
        var roff = head("lull-\(name)", HelpPage.summary(of: name))
        append(HelpPage(help), to: &roff)
        roff += ".SH SEE ALSO\n"
        let others = Help.pages.filter { $0 != name }.map { reference("lull-\($0)") }
        roff += ([reference("lull")] + others).joined(separator: ",\n") + "\n"
        return roff
    }

    private static var overview: String {
        let page = HelpPage(Help.overview)
        var summary = ""
        if case .paragraph(let text) = page.blocks.first {
            summary = String(text.drop { $0 != " " }.dropFirst())
            if summary.last == "." { summary.removeLast() }
        }
        var roff = head("lull", summary)
        append(HelpPage(Help.overview), to: &roff)
        roff += ".SH SEE ALSO\n"
        roff += Help.pages.map { reference("lull-\($0)") }.joined(separator: ",\n") + "\n"
        return roff
    }

    private static func head(_ name: String, _ summary: String) -> String {
        """
        .TH \(name.uppercased()) 1 "" "lull \(Help.version)" "User Commands"
        .ad l
        .SH NAME
        \(escaped(name)) \\- \(escaped(summary))

        """
    }

    private static func reference(_ page: String) -> String { "\\fB\(escaped(page))\\fR(1)" }

    private static func append(_ page: HelpPage, to roff: inout String) {
        var section = ""
        // Whether nothing of the section precedes the next block.
        var isFresh = true
        func open(_ name: String) {
            if section != name { roff += ".SH \(name)\n" }
            isFresh = section != name
            section = name
        }
        func paragraph() {
            if !isFresh { roff += ".PP\n" }
            isFresh = false
        }
        for (index, block) in page.blocks.enumerated() {
            switch block {
            case .usage(let lines):
                open("SYNOPSIS")
                roff += lines.map { line(escaped($0)) }.joined(separator: ".br\n")
            case .paragraph(let text):
                // The overview begins with its name, which NAME has already.
                if section.isEmpty, text.hasPrefix("lull: ") { continue }
                if section != "OPTIONS" { open("DESCRIPTION") }
                paragraph()
                roff += line(escaped(text))
            case .heading(let text):
                var next: HelpPage.Block?
                if index + 1 < page.blocks.count { next = page.blocks[index + 1] }
                if case .option = next {
                    open("OPTIONS")
                    roff += ".SS \(quoted(text))\n"
                } else {
                    open(text == "Usage" ? "SYNOPSIS" : quoted(text.uppercased()))
                }
                isFresh = true
            case .option(let term, let text):
                open("OPTIONS")
                roff += ".TP\n" + line(marked(term)) + line(escaped(text))
                isFresh = false
            case .literal(let lines):
                paragraph()
                // Lines that fill a screen in the help would not fit with a page's indentation.
                roff += ".nf\n.in 2n\n" + lines.map { line(escaped($0)) }.joined() + ".in\n.fi\n"
            }
        }
    }

    /// Returns a term with the names of options in bold and their values in italics.
    private static func marked(_ term: String) -> String {
        term.split(separator: ",").map { part in
            let words = part.split(separator: " ").map(String.init)
            let values = words.dropFirst().map { " \\fI\(escaped($0))\\fR" }.joined()
            return "\\fB\(escaped(words.first ?? ""))\\fR\(values)"
        }.joined(separator: ", ")
    }

    /// Returns a line of text that is not taken for a request.
    private static func line(_ text: String) -> String {
        text.hasPrefix(".") || text.hasPrefix("'") ? "\\&\(text)\n" : "\(text)\n"
    }

    /// Returns the argument of a heading.
    private static func quoted(_ text: String) -> String {
        "\"\(escaped(text).replacing("\"", with: "\\(dq"))\""
    }

    /// Returns text in which no character is replaced: troff makes typographic marks of some.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\e"
            case "-": escaped += "\\-"
            case "'": escaped += "\\(aq"
            case "`": escaped += "\\(ga"
            case "^": escaped += "\\(ha"
            case "~": escaped += "\\(ti"
            case _ where scalar.isASCII: escaped.unicodeScalars.append(scalar)
            default:
                let digits = String(scalar.value, radix: 16, uppercase: true)
                escaped += "\\[u\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)]"
            }
        }
        return escaped
    }
}
