/// `lull man`: the texts of `--help` as pages for `man`.
enum Manual {
    /// Returns the page of a command, or of lull as a whole.
    static func make(_ arguments: [String]) throws(Failure) -> String {
        guard arguments.count <= 1 else { throw .usage("unexpected argument \(arguments[1])") }
        // The names of all pages, for the script that installs them.
        if arguments == ["--list"] { return Help.pages.map { "\($0)\n" }.joined() }
        let page = try arguments.first.map { name throws(Failure) in try Help.page(named: name) }
        var roff = head(page.map { "lull-\($0.name)" } ?? "lull", (page ?? Help.whole).summary)
        append((page ?? Help.whole).blocks, to: &roff)
        let others = Help.pages.filter { $0 != page?.name }.map { "lull-\($0)" }
        roff += ".SH SEE ALSO\n" + ((page == nil ? [] : ["lull"]) + others).map(reference).joined(separator: ",\n")
        return roff + "\n"
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

    private static func append(_ blocks: [HelpPage.Block], to roff: inout String) {
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
        for (index, block) in blocks.enumerated() {
            switch block {
            case .usage(let lines):
                open("SYNOPSIS")
                roff += lines.map { line(escaped($0)) }.joined(separator: ".br\n")
            case .paragraph(let text):
                if section != "OPTIONS" { open("DESCRIPTION") }
                paragraph()
                roff += line(escaped(text))
            case .heading(let text):
                if index + 1 < blocks.count, case .option = blocks[index + 1] {
                    open("OPTIONS")
                    roff += ".SS \(quoted(text))\n"
                } else {
                    open(quoted(text.uppercased()))
                }
                isFresh = true
            case .option(let term, let text):
                open("OPTIONS")
                roff += ".TP\n" + line(marked(term)) + line(escaped(text))
                isFresh = false
            case .term(let word, let text):
                roff += ".TP\n" + line("\\fB\(escaped(word))\\fR") + line(escaped(text))
                isFresh = false
            case .literal(let lines):
                // The list of all commands, with which the page of lull begins.
                if section.isEmpty { open("SYNOPSIS") }
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
