/// An SVG file of one or more charts, one below the other.
public struct Picture {
    private let panels: [any Panel]

    /// Creates a picture of a line chart.
    public init(_ chart: LineChart) {
        panels = [chart]
    }

    /// Creates a picture of a timeline.
    public init(_ timeline: Timeline) {
        panels = [timeline]
    }

    /// Creates a picture of a line chart with a timeline below it.
    public init(_ chart: LineChart, above timeline: Timeline) {
        panels = [chart, timeline]
    }

    /// Returns the text of the SVG file.
    public func svg() -> String {
        let height = panels.reduce(0) { $0 + $1.height }
        let size = (width: SVG.number(Frame.width), height: SVG.number(height))
        var svg = SVG()
        svg.open(
            "svg",
            [
                "xmlns": "http://www.w3.org/2000/svg", "viewBox": "0 0 \(size.width) \(size.height)",
                "width": size.width, "height": size.height, "role": "img", "aria-labelledby": "title description",
            ])
        svg.element("title", ["id": "title"], panels.map(\.title).joined(separator: "; "))
        svg.element("desc", ["id": "description"], panels.map(\.description).joined(separator: " "))
        svg.element("style", [:], "\n" + Style.sheet)
        svg.element("rect", ["class": "paper", "width": size.width, "height": size.height, "rx": "6"])
        var top = 0.0
        for panel in panels {
            svg.open("g", ["transform": "translate(0 \(SVG.number(top)))"])
            panel.draw(&svg)
            svg.close()
            top += panel.height
        }
        svg.close()
        return svg.text
    }
}

/// A chart that takes the whole width of a picture.
protocol Panel {
    /// The title.
    var title: String { get }
    /// The alternative text, for readers who do not see the chart.
    var description: String { get }
    /// The height that it takes.
    var height: Double { get }
    /// Draws it, with the upper left corner at (0, 0).
    func draw(_ svg: inout SVG)
}
