import Foundation

/// One line of the table: a figure, its reference, and whether it meets its target.
struct Line: Codable {
    /// What the target limits.
    enum Target: Codable {
        case ratioAtMost(Double)
        case ratioAtLeast(Double)
        case figureAtMost(Double)
        case figureAtLeast(Double)
        /// For comparison only.
        case none
    }

    var row: String
    var subject: String
    var figure: Spread
    var unit: String
    var reference: String?
    var referenceFigure: Spread?
    var ratio: Spread?
    var target: Target

    init(
        _ subject: String, _ figure: Spread, _ unit: String, against reference: String? = nil,
        _ referenceFigure: Spread? = nil, ratio: Spread? = nil, target: Target = .none
    ) {
        row = ""
        self.subject = subject
        self.figure = figure
        self.unit = unit
        self.reference = reference
        self.referenceFigure = referenceFigure
        self.ratio = ratio
        self.target = target
    }

    var isMet: Bool? {
        switch target {
        case .ratioAtMost(let bound): ratio.map { $0.median <= bound }
        case .ratioAtLeast(let bound): ratio.map { $0.median >= bound }
        case .figureAtMost(let bound): figure.median <= bound
        case .figureAtLeast(let bound): figure.median >= bound
        case .none: nil
        }
    }
}

/// Prints lines as they come, and stores them.
struct Report {
    private(set) var lines: [Line] = []

    static let columns = [15, 42, 15, 26, 20, 9, 7]

    init() {
        print(Self.line(["row", "what", "figure", "compared with", "ratio (quartiles)", "target", "verdict"]))
        print(Self.line(Self.columns.map { String(repeating: "-", count: $0) }))
    }

    mutating func add(_ row: String, _ new: [Line]) {
        for (index, line) in new.enumerated() {
            var line = line
            line.row = row
            lines.append(line)
            print(
                Self.line([
                    index == 0 ? row : "", line.subject, Self.figure(line.figure.median, line.unit),
                    line.reference.map { reference in
                        reference + (line.referenceFigure.map { " " + Self.figure($0.median, line.unit) } ?? "")
                    } ?? "",
                    line.ratio.map(Self.ratio) ?? "", Self.target(line), line.isMet.map { $0 ? "ok" : "MISSED" } ?? "",
                ]))
        }
        fflush(nil)
    }

    func writeJSON(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        try encoder.encode(lines.map { Entry(line: $0, met: $0.isMet) }).write(to: URL(fileURLWithPath: path))
    }

    /// Reads the lines that another run, of any build, has written.
    static func readJSON(from path: String) throws -> [Line] {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return try decoder.decode([Entry].self, from: Data(contentsOf: URL(fileURLWithPath: path))).map(\.line)
    }

    private struct Entry: Codable {
        var line: Line
        var met: Bool?
    }

    static func line(_ cells: [String], _ widths: [Int] = columns) -> String {
        var text = ""
        for (cell, width) in zip(cells, widths) {
            text += cell + String(repeating: " ", count: max(0, width - cell.count)) + "  "
        }
        while text.last == " " { text.removeLast() }
        return text
    }

    static func figure(_ value: Double, _ unit: String) -> String {
        let digits = abs(value) >= 100 || value == value.rounded() ? 0 : abs(value) >= 10 ? 1 : 2
        return String(format: "%.\(digits)f", value) + " " + unit
    }

    static func ratio(_ ratio: Spread) -> String {
        let digits = ratio.median >= 10 ? 0 : 2
        return String(
            format: "%.\(digits)f (%.\(digits)f–%.\(digits)f)", ratio.median, ratio.lowerQuartile, ratio.upperQuartile)
    }

    private static func target(_ line: Line) -> String {
        switch line.target {
        case .ratioAtMost(let bound): "≤ \(number(bound)) ×"
        case .ratioAtLeast(let bound): "≥ \(number(bound)) ×"
        case .figureAtMost(let bound): "≤ \(number(bound))"
        case .figureAtLeast(let bound): "≥ \(number(bound))"
        case .none: ""
        }
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() ? String(Int(value)) : String(value)
    }
}
