internal import CLullCommand
internal import LullDurable

/// Finds the name that a user probably meant.
enum SpellingCorrection {
    /// Returns the candidate with the smallest edit distance; nil if every distance exceeds a third of the word's
    /// length.
    static func nearest(to word: String, among candidates: [String]) -> String? {
        let limit = word.utf8.count / 3
        // Candidates of a very different length need not be compared.
        return candidates.filter { abs($0.utf8.count - word.utf8.count) <= limit }
            .map { (distance: distance(word, $0), name: $0) }
            .filter { $0.distance <= limit }
            .min { $0.distance < $1.distance }?.name
    }

    /// Returns the Damerau-Levenshtein distance: the number of letters to insert, delete, replace or swap with their
    /// neighbour.
    static func distance(_ one: String, _ other: String) -> Int {
        let (one, other) = (Array(one.utf8), Array(other.utf8))
        var beforeLast: [Int] = []
        var last = Array(0...other.count)
        for row in one.indices {
            var current = [row + 1]
            for column in other.indices {
                let isSame = one[row] == other[column]
                var least = min(last[column] + (isSame ? 0 : 1), last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, one[row] == other[column - 1], one[row - 1] == other[column] {
                    least = min(least, beforeLast[column - 1] + 1)
                }
                current.append(least)
            }
            (beforeLast, last) = (last, current)
        }
        return last[other.count]
    }
}

extension Failure {
    /// A first argument that is neither a command nor an option of `lull`, with what was probably meant.
    static func unknown(_ name: String) -> Failure {
        if name.hasPrefix("-") { return unknownOption(name) }
        let shown = ServerURL.withoutPassword(name)
        if let command = commandForFile(name, shown) {
            return .usage("\(shown) is a file, not a command: try lull \(command)")
        }
        let meant =
            if name == Help.topic {
                "'lull help \(name)'"
            } else if let owner = Subcommand.allCases.first(where: { $0.takes(keyword: name) }) {
                "'lull \(owner.rawValue) \(name)'"
            } else {
                SpellingCorrection.nearest(to: name, among: Help.commands).map { "'\($0)'" }
            }
        return .usage("unknown command '\(shown)'\(meant.map { ": did you mean \($0)?" } ?? "")")
    }

    /// Returns the command for a file whose name stands where that of a command is expected; nil if there is no such
    /// file.
    private static func commandForFile(_ name: String, _ shown: String) -> String? {
        var status = stat()
        guard stat(name, &status) == 0, UInt32(status.st_mode) & UInt32(S_IFMT) != UInt32(S_IFDIR) else { return nil }
        return switch name.split(separator: ".").last {
        case "json", "jsonl": "tune \(shown)"
        case "db", "sqlite": "status --store sqlite:\(shown)"
        default: "filter --wait 500ms < \(shown)"
        }
    }

    private static func unknownOption(_ name: String) -> Failure {
        let option = name.prefix { $0 != "=" }
        if let owner = Option.all.first(where: { $0.spelled == option })?.subcommands.first {
            return .usage("\(option) comes after a command, as in lull \(owner.rawValue) \(option)")
        }
        let hint =
            SpellingCorrection.nearest(to: name, among: ["--help", "--version"]).map { ": did you mean \($0)?" } ?? ""
        return .usage("unknown option \(option)\(hint)")
    }
}
