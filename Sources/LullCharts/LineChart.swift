/// A line chart as a self-contained SVG picture, with the name of each line at its end.
///
/// It can be read on light and dark backgrounds. The marks tell the lines apart without their colours.
public struct LineChart: Sendable, Panel {
    /// The title, which states what the chart shows.
    public var title: String
    /// A sentence that says what was measured or computed.
    public var subtitle: String
    /// The source of the data.
    public var source: String
    /// The horizontal axis.
    public var x: Axis
    /// The vertical axis.
    public var y: Axis
    /// The lines. The first is drawn last, above the others.
    public var series: [Series]

    /// Creates a line chart.
    public init(title: String, subtitle: String, source: String, x: Axis, y: Axis, series: [Series]) {
        self.title = title
        self.subtitle = subtitle
        self.source = source
        self.x = x
        self.y = y
        self.series = series
    }

    /// A line of a chart.
    public struct Series: Sendable {
        /// The name at the end of the line.
        public var name: String
        /// The points, from left to right.
        public var points: [Point]

        /// Creates a line through points, given from left to right.
        public init(_ name: String, _ points: [Point]) {
            self.name = name
            self.points = points
        }
    }

    /// A point of a line.
    public struct Point: Sendable {
        /// The value on the horizontal axis.
        public var x: Double
        /// The value on the vertical axis.
        public var y: Double
        /// The range of the measurements, if they differ.
        public var range: ClosedRange<Double>?
        /// The label beside the point, where there is room for it.
        public var label: String?
        /// Whether the chart highlights this point.
        public var isChosen: Bool

        /// Creates a point, optionally with the range of its measurements.
        public init(
            _ x: Double, _ y: Double, range: ClosedRange<Double>? = nil, label: String? = nil, isChosen: Bool = false
        ) {
            self.x = x
            self.y = y
            self.range = range
            self.label = label
            self.isChosen = isChosen
        }
    }

    /// Returns the text of the SVG file.
    public func svg() -> String { Picture(self).svg() }

    // MARK: - The picture

    var height: Double { Frame.height }

    var description: String {
        subtitle + " "
            + series.filter { !$0.points.isEmpty }.map { line in
                let (first, last) = (line.points[0], line.points[line.points.count - 1])
                return "\(line.name): \(y.quantity.text(first.y)) at \(x.quantity.text(first.x)), "
                    + "\(y.quantity.text(last.y)) at \(x.quantity.text(last.x))."
            }.joined(separator: " ")
    }

    func draw(_ svg: inout SVG) {
        let frame = Frame(self)
        svg.write(title, at: (Frame.padding, 34), "title start")
        svg.write(subtitle, at: (Frame.padding, 56), "quiet start")
        drawAxes(frame, &svg)
        for index in series.indices.reversed() { drawBand(index, frame, &svg) }
        for index in series.indices.reversed() { drawLine(index, frame, &svg) }
        var taken = series.flatMap(\.points).filter(\.isChosen).map { frame.point($0) }
        for index in series.indices { drawLabels(index, frame, &taken, &svg) }
        drawNames(frame, &svg)
        svg.write(source, at: (Frame.padding, Frame.height - 16), "quiet note start")
    }

    private func drawAxes(_ frame: Frame, _ svg: inout SVG) {
        svg.write(y.title, at: (Frame.padding, frame.top - 16), "axis start")
        for value in y.scale.ticks(in: y.bounds, about: 6) {
            let height = frame.y(value)
            svg.stroke([(frame.left, height), (frame.right, height)], "grid")
            svg.write(y.quantity.text(value), at: (frame.left - 10, height + 4.5), "quiet end")
        }
        svg.stroke([(frame.left, frame.bottom), (frame.right, frame.bottom)], "base")
        for value in x.scale.ticks(in: x.bounds, about: 8) {
            let tick = frame.x(value)
            svg.stroke([(tick, frame.bottom), (tick, frame.bottom + 5)], "base")
            svg.write(x.quantity.text(value), at: (tick, frame.bottom + 20), "quiet middle")
        }
        svg.write(x.title, at: ((frame.left + frame.right) / 2, frame.bottom + 42), "axis middle")
    }

    private func drawBand(_ index: Int, _ frame: Frame, _ svg: inout SVG) {
        let points = series[index].points
        guard points.contains(where: { $0.range != nil }) else { return }
        let upper = points.map { (frame.x($0.x), frame.y($0.range?.upperBound ?? $0.y)) }
        let lower = points.reversed().map { (frame.x($0.x), frame.y($0.range?.lowerBound ?? $0.y)) }
        svg.element("path", ["class": "band \(colour(index))", "d": SVG.path(upper + lower, isClosed: true)])
    }

    private func drawLine(_ index: Int, _ frame: Frame, _ svg: inout SVG) {
        let points = series[index].points.map { frame.point($0) }
        svg.stroke(points, "line \(colour(index))")
        // More marks would hide the line.
        for point in points.count <= 30 ? points[...] : points.suffix(1) { mark(index, at: point, &svg) }
    }

    /// Draws the labels of points: always that of the chosen point, and others where they are not too close to earlier
    /// ones. Every second series has its labels on the other side.
    private func drawLabels(
        _ index: Int, _ frame: Frame, _ taken: inout [(x: Double, y: Double)], _ svg: inout SVG
    ) {
        let points = series[index].points
        func write(_ label: String, at point: (x: Double, y: Double), _ distance: Double, _ style: String) {
            // Below the axis are its own labels.
            let isAbove = index.isMultiple(of: 2) || point.y > frame.bottom - 24
            let x = point.x + (isAbove ? -distance : distance)
            let y = point.y + (isAbove ? 2 - distance : distance + 7)
            svg.write(label, at: (x, y), style + (isAbove ? " end" : " start"))
        }
        for point in points {
            guard let label = point.label else { continue }
            let centre = frame.point(point)
            if point.isChosen {
                svg.element(
                    "circle",
                    [
                        "class": "ring \(colour(index))", "cx": SVG.number(centre.x), "cy": SVG.number(centre.y),
                        "r": "9",
                    ])
                write(label, at: centre, 12, "axis")
            } else if taken.allSatisfy({ abs($0.x - centre.x) > 44 || abs($0.y - centre.y) > 22 }) {
                taken.append(centre)
                write(label, at: centre, 8, "quiet note")
            }
        }
    }

    private func drawNames(_ frame: Frame, _ svg: inout SVG) {
        for label in frame.labels {
            if abs(label.y - label.end) > Frame.leading / 2 {
                svg.stroke([(label.x - 5, label.end), (label.x - 2, label.y)], "leader \(colour(label.series))")
            }
            svg.write(series[label.series].name, at: (label.x, label.y + 4.5), "start")
        }
    }

    /// Draws a mark in the shape of the series.
    private func mark(_ index: Int, at point: (x: Double, y: Double), _ svg: inout SVG) {
        func shape(_ corners: [(Double, Double)]) {
            let points = corners.map { (x: point.x + $0.0, y: point.y + $0.1) }
            svg.element("path", ["class": "mark \(colour(index))", "d": SVG.path(points, isClosed: true)])
        }
        switch index % 4 {
        case 0:
            svg.element(
                "circle",
                ["class": "mark \(colour(index))", "cx": SVG.number(point.x), "cy": SVG.number(point.y), "r": "4.5"])
        case 1: shape([(-4, -4), (4, -4), (4, 4), (-4, 4)])
        case 2: shape([(0, -5.5), (5.2, 4), (-5.2, 4)])
        default: shape([(0, -5.5), (5.5, 0), (0, 5.5), (-5.5, 0)])
        }
    }

    private func colour(_ index: Int) -> String { "c\(index % Style.colours.count)" }
}
