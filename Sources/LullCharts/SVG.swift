/// Text of a Scalable Vector Graphics file, put together element by element.
struct SVG {
    private(set) var text = ""
    private var open: [String] = []

    /// Opens an element; all until it is closed is inside.
    mutating func open(_ name: String, _ attributes: KeyValuePairs<String, String> = [:]) {
        begin(name, attributes)
        text += ">\n"
        open.append(name)
    }

    /// Closes the element that was opened last.
    mutating func close() {
        guard let name = open.popLast() else { preconditionFailure("closed an element that was never opened") }
        text += "</\(name)>\n"
    }

    /// An element with nothing in it, or with text.
    mutating func element(_ name: String, _ attributes: KeyValuePairs<String, String>, _ content: String? = nil) {
        begin(name, attributes)
        if let content {
            text += ">\(Self.escaped(content))</\(name)>\n"
        } else {
            text += "/>\n"
        }
    }

    /// Text of a style, with its baseline at a place.
    mutating func write(_ text: String, at place: (Double, Double), _ style: String) {
        element("text", ["class": style, "x": Self.number(place.0), "y": Self.number(place.1)], text)
    }

    /// A line of a style through points.
    mutating func stroke(_ points: [(x: Double, y: Double)], _ style: String) {
        element("path", ["class": style, "d": Self.path(points)])
    }

    /// A line through points, as the data of a path.
    static func path(_ points: [(x: Double, y: Double)], isClosed: Bool = false) -> String {
        var data = ""
        for (index, point) in points.enumerated() {
            data += (index == 0 ? "M" : "L") + number(point.x) + " " + number(point.y)
        }
        return data + (isClosed ? "Z" : "")
    }

    /// A number with at most so many digits after the point, and no more than it needs.
    static func number(_ value: Double, digits: Int = 1) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return "0" }
        var factor = 1
        for _ in 0..<digits { factor *= 10 }
        let whole = Int((abs(value) * Double(factor)).rounded())
        var text = String(whole / factor)
        var rest = whole % factor
        if rest > 0 {
            text += "."
            while rest > 0 {
                factor /= 10
                text += String(rest / factor)
                rest %= factor
            }
        }
        return value < 0 && whole > 0 ? "-" + text : text
    }

    private mutating func begin(_ name: String, _ attributes: KeyValuePairs<String, String>) {
        text += "<" + name
        for (attribute, value) in attributes { text += " \(attribute)=\"\(Self.escaped(value))\"" }
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
        return result
    }
}
