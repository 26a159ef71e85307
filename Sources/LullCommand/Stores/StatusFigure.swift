internal import Lull
internal import LullCore
internal import LullInspection

/// A figure of a status: its names, its unit and its sentence, once. Tables, lines, JSON, metrics and `--fail-if` are
/// made from it.
struct StatusFigure: Sendable {
    /// The name of the column, or in the line below the table.
    let name: String
    /// The name in a JSON object.
    let property: String
    /// The name of the metric, without its unit; figures with the same one differ in their labels.
    let metric: String
    /// The metric's description.
    let help: String
    var unit = Unit.none
    var labels: [(name: String, value: String)] = []
    /// Whether it only grows, and has no column.
    var isCounter = false
    /// Whether a line below the table says it instead of a column.
    var isInLine = false
    var hasColumn: Bool { !isCounter && !isInLine }

    enum Unit {
        case none
        case bytes
        /// In nanoseconds; seconds for other programs.
        case duration
        /// It is no number but a word.
        case name
    }

    enum Value {
        /// Nil for none.
        case number(Int64?)
        case name(String)
    }
}

struct MeasuredFigure {
    let figure: StatusFigure
    let value: StatusFigure.Value

    init(_ figure: StatusFigure, _ value: StatusFigure.Value) {
        self.figure = figure
        self.value = value
    }

    /// The value for people.
    ///
    /// - Parameter none: What stands for no value.
    func shown(none: String) -> String {
        switch value {
        case .number(let number): number.map(figure.shown) ?? none
        case .name(let name): name
        }
    }

    var json: JSONValue {
        switch value {
        case .number(let number?) where figure.unit == .duration: .seconds(number)
        case .number(let number): .number(number)
        case .name(let name): .text(name)
        }
    }
}

extension StatusFigure {
    /// - Parameter property: Its name in a JSON object, if that is another one.
    init(
        _ name: String, as property: String? = nil, _ metric: String, _ help: String, _ unit: Unit = .none,
        labels: [(name: String, value: String)] = [], isCounter: Bool = false, isInLine: Bool = false
    ) {
        self.init(
            name: name, property: property ?? name, metric: metric, help: help, unit: unit, labels: labels,
            isCounter: isCounter, isInLine: isInLine)
    }

    /// Returns a number for people.
    func shown(_ number: Int64) -> String {
        switch unit {
        case .bytes: megabytes(number)
        case .duration: DurationText.rounded(number)
        case .none, .name: "\(number)"
        }
    }
}

extension StatusFigure.Value {
    static func count(_ count: some BinaryInteger) -> Self { .number(Int64(count)) }
    static func duration(_ duration: Duration?) -> Self { .number(duration.map { CoreDuration($0).nanoseconds }) }
}
