/// A marble diagram: the submits, and below them the executions under each of some policies.
public struct Timeline: Sendable, Panel {
    /// The title.
    public var title: String
    /// A sentence that says what is shown.
    public var subtitle: String
    /// The start and the end in nanoseconds; labels count from the start.
    public var bounds: ClosedRange<Double>
    /// The instants of the submits.
    public var submits: [Double]
    /// A row for each policy.
    public var rows: [Row]

    /// Creates a timeline.
    public init(title: String, subtitle: String, bounds: ClosedRange<Double>, submits: [Double], rows: [Row]) {
        self.title = title
        self.subtitle = subtitle
        self.bounds = bounds
        self.submits = submits
        self.rows = rows
    }

    /// The executions under one policy.
    public struct Row: Sendable {
        /// The name at the left end.
        public var name: String
        /// The executions, each with the instant of the first submit behind it.
        public var executions: [(first: Double, at: Double)]
        /// The number of the colour, as in a ``LineChart``.
        public var colour: Int
        /// When handlers ran, in lines that do not overlap, and whether they were cut off; empty if they take no time.
        public var runs: [[(from: Double, to: Double, isCut: Bool)]]

        /// Creates a row of executions.
        public init(
            _ name: String, colour: Int, _ executions: [(first: Double, at: Double)],
            runs: [[(from: Double, to: Double, isCut: Bool)]] = []
        ) {
            self.name = name
            self.colour = colour
            self.executions = executions
            self.runs = runs
        }
    }

    // MARK: - The picture

    private static let top = 92.0
    private static let rowHeight = 40.0

    var height: Double { Self.top + Self.rowHeight * Double(rows.count + 1) + 64 }

    var description: String {
        subtitle + " \(submits.count) submits. "
            + rows.map { row in
                let cut = row.runs.joined().count { $0.isCut }
                return row.runs.isEmpty
                    ? "\(row.name): \(row.executions.count { bounds.contains($0.at) }) executions."
                    : "\(row.name): \(row.runs.joined().count) executions, \(cut) of them interrupted or cancelled."
            }.joined(separator: " ")
    }

    func draw(_ svg: inout SVG) {
        let names = ["submits"] + rows.map(\.name)
        let left = Frame.padding + (names.map { Style.width($0) }.max() ?? 0) + 12
        let right = Frame.width - Frame.padding - 14
        let length = bounds.upperBound - bounds.lowerBound
        func x(_ instant: Double) -> Double {
            left + min(1, max(0, (instant - bounds.lowerBound) / length)) * (right - left)
        }
        svg.write(title, at: (Frame.padding, 34), "title start")
        svg.write(subtitle, at: (Frame.padding, 56), "quiet start")

        let bottom = Self.top + Self.rowHeight * Double(rows.count + 1) - 8
        for value in Scale.linear.ticks(in: 0...length, about: 8) {
            let tick = x(bounds.lowerBound + value)
            svg.stroke([(tick, Self.top - 8), (tick, bottom)], "grid")
            svg.write(Axis.Quantity.nanoseconds.text(value), at: (tick, bottom + 18), "quiet middle")
        }
        var y = Self.top + 10
        svg.write("submits", at: (Frame.padding, y + 4.5), "start")
        svg.stroke([(left, y), (right, y)], "base")
        for submit in submits {
            svg.element("circle", ["class": "marble", "cx": SVG.number(x(submit)), "cy": SVG.number(y), "r": "4"])
        }
        for row in rows {
            y += Self.rowHeight
            draw(row, at: y, from: left, to: right, x, &svg)
        }
        svg.write(
            rows.allSatisfy(\.runs.isEmpty)
                ? "A bar is the time that a value waits; the mark at its end is its execution."
                : "A pale bar is the time until a value is due. Below it the handler runs; a slanted end is cut off.",
            at: (Frame.padding, height - 16),
            "quiet note start")
    }

    private func draw(
        _ row: Row, at y: Double, from left: Double, to right: Double, _ x: (Double) -> Double, _ svg: inout SVG
    ) {
        let colour = "c\(row.colour % Style.colours.count)"
        svg.write(row.name, at: (Frame.padding, y + 4.5), "start")
        svg.stroke([(left, y), (right, y)], "base")
        for (first, at) in row.executions where at > first {
            let start = x(first)
            svg.element(
                "rect",
                [
                    "class": "wait \(colour)", "x": SVG.number(start), "y": SVG.number(y - 5),
                    "width": SVG.number(x(at) - start), "height": "10", "rx": "2",
                ])
        }
        for (number, runs) in row.runs.enumerated() {
            // Executions at once lie below each other, as far as there is room.
            let top = y + 9 + 8 * Double(number % 3)
            for (from, to, isCut) in runs {
                let (start, end) = (x(from), max(x(from) + 1, x(to) - 1))
                let slant = isCut ? min(6, (end - start) / 2) : 0
                let corners = [(start, top), (end, top), (end - slant, top + 7), (start, top + 7)]
                svg.element(
                    "path",
                    [
                        "class": "mark \(colour)", "opacity": isCut ? ".5" : "1",
                        "d": SVG.path(corners.map { (x: $0.0, y: $0.1) }, isClosed: true),
                    ])
            }
        }
        for (_, at) in row.executions where bounds.contains(at) {
            let centre = x(at)
            let corners = [(0.0, -8.0), (6, 0), (0, 8), (-6, 0)].map { (x: centre + $0.0, y: y + $0.1) }
            svg.element("path", ["class": "mark \(colour)", "d": SVG.path(corners, isClosed: true)])
        }
    }
}
