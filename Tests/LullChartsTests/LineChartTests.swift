import Foundation
import Testing

@testable import LullCharts

#if canImport(FoundationXML)
    import FoundationXML
#endif

@Suite("A chart of lines")
struct LineChartTests {
    private func chart(_ series: [LineChart.Series]) -> LineChart {
        LineChart(
            title: "Cost < \"price\" & more", subtitle: "Measured.", source: "make bench",
            x: Axis("keys", .count, .logarithmic, 1...1000), y: Axis("time", .nanoseconds, .linear, 0...100),
            series: series)
    }

    /// Parses the text as XML, and collects its elements.
    private final class Reader: NSObject, XMLParserDelegate {
        var elements: [(name: String, attributes: [String: String])] = []
        var text = ""

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            elements.append((name, attributes))
        }

        func parser(_ parser: XMLParser, foundCharacters text: String) { self.text += text }
    }

    private func read(_ chart: LineChart) throws -> Reader {
        let reader = Reader()
        let parser = XMLParser(data: Data(chart.svg().utf8))
        parser.delegate = reader
        try #require(parser.parse(), "\(String(describing: parser.parserError))")
        return reader
    }

    @Test
    func `is one self-contained well-formed file for light and dark backgrounds, with alternative text`() throws {
        let it = chart([.init("a & b", [.init(1, 10), .init(1000, 20, range: 15...30)])])
        let reader = try read(it)
        #expect(reader.elements.first?.name == "svg")
        #expect(reader.text.contains("Cost < \"price\" & more"))
        #expect(reader.text.contains("a & b: 10 ns at 1, 20 ns at 1k."))
        #expect(it.svg().contains("prefers-color-scheme: dark"))
        #expect(it.svg().components(separatedBy: "http").count == 2, "besides the namespace nothing is referred to")
    }

    @Test
    func `draws a few points as marks of different shapes, and many as a line alone`() throws {
        let few = (0..<4).map { line in
            LineChart.Series("\(line)", [.init(1, 10 * Double(line)), .init(1000, 20 * Double(line))])
        }
        let marks = try read(chart(few)).elements.filter { $0.attributes["class"]?.hasPrefix("mark") == true }
        #expect(marks.count == 8)
        // A square and a diamond have equally many corners.
        #expect(Set(marks.map { $0.name + ($0.attributes["d"]?.filter { "ML".contains($0) } ?? "") }).count == 3)

        let many = LineChart.Series("many", (1...100).map { .init(Double($0), 50) })
        #expect(try read(chart([many])).elements.count { $0.attributes["class"]?.hasPrefix("mark") == true } == 1)
    }

    @Test
    func `names lines at their ends, without overlaps and inside the picture`() {
        let ends = [50.0, 50, 51, 99, 100, 0]
        let series = ends.map { LineChart.Series("a line that ends at \($0)", [.init(1, 10), .init(1000, $0)]) }
        let frame = Frame(chart(series))
        #expect(frame.labels.count == ends.count)
        for (upper, lower) in zip(frame.labels, frame.labels.dropFirst()) { #expect(lower.y - upper.y > 17) }
        for label in frame.labels {
            #expect(label.x + label.width <= Frame.width)
            #expect((frame.top...frame.bottom).contains(label.y))
        }
    }

    @Test
    func `is an empty frame, not a trap, for no points or values that cannot be drawn`() throws {
        #expect(try read(chart([])).elements.count > 5)
        #expect(try read(chart([.init("none", [])])).elements.count > 5)
        let wild: [LineChart.Point] = [.init(.nan, .infinity), .init(-1, -.infinity), .init(.infinity, .nan)]
        #expect(!chart([.init("wild", wild)]).svg().contains("nan"))
    }

    @Test
    func `has colours that contrast with the background`() {
        for colour in Style.colours {
            #expect(contrast(colour.light, "#ffffff") >= 3, "\(colour.light)")
            #expect(contrast(colour.dark, "#0d1117") >= 3, "\(colour.dark)")
        }
    }

    /// Returns the contrast ratio of two colours, as the Web Content Accessibility Guidelines define it.
    private func contrast(_ one: String, _ other: String) -> Double {
        func luminance(_ colour: String) -> Double {
            let number = Int(colour.dropFirst(), radix: 16) ?? 0
            let parts = [number >> 16, number >> 8 & 255, number & 255].map { part in
                let value = Double(part) / 255
                return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
            }
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
        }
        let (first, second) = (luminance(one), luminance(other))
        return (max(first, second) + 0.05) / (min(first, second) + 0.05)
    }
}
