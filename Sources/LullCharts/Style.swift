/// The appearance of a chart. Colours follow the reader's choice of light or dark.
enum Style {
    /// Colours that all kinds of colour vision can tell apart (after Okabe and Ito), darkened or lightened to suit the
    /// background.
    static let colours: [(light: String, dark: String)] = [
        ("#0072b2", "#56b4e9"),
        ("#d55e00", "#e69f00"),
        ("#009e73", "#2fc59b"),
        ("#b0578d", "#cc79a7"),
        ("#5c5c5c", "#b8b8b8"),
    ]

    static let sheet: String = {
        var light = ""
        var dark = ""
        for (index, colour) in colours.enumerated() {
            light += rule(index, colour.light)
            dark += rule(index, colour.dark)
        }
        return """
            text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; \
            fill: #24292f }
            .title { font-size: 17px; font-weight: 600 }
            .axis { font-weight: 600 }
            .quiet { fill: #57606a }
            .note { font-size: 12px }
            .start { text-anchor: start } .middle { text-anchor: middle } .end { text-anchor: end }
            .paper { fill: #ffffff }
            .grid { stroke: #d8dee4; stroke-width: 1 }
            .base { stroke: #8c959f; stroke-width: 1 }
            .line { fill: none; stroke-width: 2.25; stroke-linejoin: round; stroke-linecap: round }
            .band { stroke: none; opacity: .16 }
            .mark { stroke: #ffffff; stroke-width: 1.25 }
            .leader { fill: none; stroke-width: 1; opacity: .6 }
            .ring { fill: none; stroke-width: 2 }
            .wait { stroke: none; opacity: .35 }
            .marble { fill: #24292f; stroke: #ffffff; stroke-width: 1 }
            \(light)@media (prefers-color-scheme: dark) {
            text { fill: #e6edf3 }
            .quiet { fill: #9da7b3 }
            .paper { fill: #0d1117 }
            .grid { stroke: #2a313a }
            .base { stroke: #6e7681 }
            .mark { stroke: #0d1117 }
            .marble { fill: #e6edf3; stroke: #0d1117 }
            \(dark)}

            """
    }()

    private static func rule(_ index: Int, _ colour: String) -> String {
        """
        .line.c\(index), .leader.c\(index), .ring.c\(index) { stroke: \(colour) } .mark.c\(index), .band.c\(index), \
        .wait.c\(index) { fill: \(colour) }

        """
    }

    /// Returns the estimated width of text, somewhat more than in most fonts: an SVG file cannot measure it.
    static func width(_ text: String, size: Double = 13) -> Double {
        text.reduce(0) { $0 + (narrow.contains($1) ? 0.36 : 0.6) * size }
    }

    private static let narrow: Set<Character> = [
        "i", "j", "l", "t", "f", "r", "I", ".", ",", ":", ";", "'", "(", ")", " ",
    ]
}
