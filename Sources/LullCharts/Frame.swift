/// The layout of a chart, in points from the upper left corner.
struct Frame {
    static let padding = 20.0
    /// The distance from the end of a line to its name.
    static let gap = 12.0
    /// The vertical distance between names.
    static let leading = 18.0

    static let width = 780.0
    static let height = 460.0

    let left: Double
    let right: Double
    let top = 104.0
    var bottom: Double { Self.height - 88 }
    private(set) var labels: [Label] = []

    private let chart: LineChart

    /// The name of a series, beside the end of its line.
    struct Label {
        var series: Int
        var x: Double
        var y: Double
        /// The vertical position of the line's end.
        var end: Double
        var width: Double
    }

    init(_ chart: LineChart) {
        self.chart = chart
        let longest = chart.y.scale.ticks(in: chart.y.bounds, about: 6).map { Style.width(chart.y.quantity.text($0)) }
            .max()
        let left = Self.padding + (longest ?? 0) + 10
        self.left = left
        // As far to the right as the names leave room, each of which starts where its line ends.
        var right = Self.width - Self.padding - 14
        for series in chart.series {
            guard let end = series.points.last.map({ chart.x.position($0.x) }), end > 0 else { continue }
            let room = Self.width - Self.padding - Self.gap - Style.width(series.name) - left
            right = min(right, left + room / end)
        }
        self.right = max(right, left + 100)
        placeLabels()
    }

    func x(_ value: Double) -> Double { left + chart.x.position(value) * (right - left) }

    func y(_ value: Double) -> Double { bottom - chart.y.position(value) * (bottom - top) }

    func point(_ point: LineChart.Point) -> (x: Double, y: Double) { (x(point.x), y(point.y)) }

    /// Places names at the ends of their lines, and moves apart those that overlap.
    private mutating func placeLabels() {
        for (index, series) in chart.series.enumerated() {
            guard let last = series.points.last else { continue }
            let (x, y) = point(last)
            labels.append(Label(series: index, x: x + Self.gap, y: y, end: y, width: Style.width(series.name)))
        }
        labels.sort { ($0.y, $0.series) < ($1.y, $1.series) }
        // Each overlapping pair moves apart; a few rounds settle a few names.
        for _ in 0..<100 {
            for upper in labels.indices {
                for lower in labels.indices.dropFirst(upper + 1) {
                    let (first, second) = (labels[upper], labels[lower])
                    let overlap = Self.leading - (second.y - first.y)
                    guard overlap > 0, first.x < second.x + second.width, second.x < first.x + first.width else {
                        continue
                    }
                    labels[upper].y -= overlap / 2
                    labels[lower].y += overlap / 2
                }
            }
            for index in labels.indices { labels[index].y = min(bottom - 4, max(top + 4, labels[index].y)) }
        }
    }
}
