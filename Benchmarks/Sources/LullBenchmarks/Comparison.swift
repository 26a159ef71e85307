import Foundation

/// Compares the figures of one build with those of another, run by run: `--compare now.json… --with before.json…`.
///
/// Where the floor varies as much as our own figure, because of memory or other processes, comparing two builds says
/// more.
enum Comparison {
    private static let columns = [14, 42, 15, 15, 20, 20]

    static func print(_ now: [String], with before: [String]) throws {
        let now = try now.map(Report.readJSON), before = try before.map(Report.readJSON)
        Swift.print(
            Report.line(["row", "what", "now", "before", "now / before", "same of reference"], columns))
        Swift.print(Report.line(columns.map { String(repeating: "-", count: $0) }, columns))
        var row = ""
        for name in names(now + before) {
            let (ours, theirs) = (now.map { line(name, in: $0) }, before.map { line(name, in: $0) })
            Swift.print(
                Report.line(
                    [name.row == row ? "" : name.row, name.subject, median(ours), median(theirs)]
                        + [
                            ratio(ours, theirs) { $0.figure.median },
                            ratio(ours, theirs) { $0.referenceFigure?.median },
                        ],
                    columns))
            row = name.row
        }
    }

    /// Identifies a line.
    private struct Name: Hashable {
        var row: String
        var subject: String
    }

    /// All lines, in the order in which the runs have them.
    private static func names(_ runs: [[Line]]) -> [Name] {
        var known: Set<Name> = []
        return runs.joined().map { Name(row: $0.row, subject: $0.subject) }.filter { known.insert($0).inserted }
    }

    private static func line(_ name: Name, in run: [Line]) -> Line? {
        run.first { $0.row == name.row && $0.subject == name.subject }
    }

    /// The median of the runs; nil if the build does not have the line.
    private static func median(_ lines: [Line?]) -> String {
        let lines = lines.compactMap(\.self)
        guard let unit = lines.first?.unit else { return "-" }
        return Report.figure(Spread(lines.map(\.figure.median)).median, unit)
    }

    /// The ratio of two consecutive runs.
    private static func ratio(_ now: [Line?], _ before: [Line?], _ figure: (Line) -> Double?) -> String {
        let ratios = zip(now, before).compactMap { now, before -> Double? in
            guard let now = now.flatMap(figure), let before = before.flatMap(figure), before != 0 else { return nil }
            return now / before
        }
        return ratios.isEmpty ? "-" : Report.ratio(Spread(ratios))
    }
}
