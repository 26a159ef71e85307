/// One or more charts below each other in one file.
public struct Picture {
    private let panels: [any Panel]

    /// A picture of a line chart alone.
    public init(_ chart: LineChart) {
        panels = [chart]
    }

    /// A picture of a timeline alone.
    public init(_ timeline: Timeline) {
        panels = [timeline]
    }

    /// A line chart, and a timeline below it.
    public init(_ chart: LineChart, above timeline: Timeline) {
        panels = [chart, timeline]
    }

    /// The text of the SVG file.
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

/// A part of a picture that takes its whole width.
protocol Panel {
    /// What it says.
    var title: String { get }
    /// What a reader who does not see it is told.
    var description: String { get }
    /// How much of the picture's height it takes.
    var height: Double { get }
    /// Draws it, from the upper left corner at (0, 0).
    func draw(_ svg: inout SVG)
}
