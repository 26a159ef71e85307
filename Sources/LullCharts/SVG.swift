/// Builds the text of an SVG file, element by element.
struct SVG {
    private(set) var text = ""
    private var open: [String] = []

    /// Opens an element, which contains everything until it is closed.
    mutating func open(_ name: String, _ attributes: KeyValuePairs<String, String> = [:]) {
        begin(name, attributes)
        text += ">\n"
        open.append(name)
    }

    /// Closes the innermost open element.
    mutating func close() {
        guard let name = open.popLast() else { preconditionFailure("closed an element that was never opened") }
        text += "</\(name)>\n"
    }

    /// Appends an element that is empty or contains text.
    mutating func element(_ name: String, _ attributes: KeyValuePairs<String, String>, _ content: String? = nil) {
        begin(name, attributes)
        if let content {
            text += ">\(Self.escaped(content))</\(name)>\n"
        } else {
            text += "/>\n"
        }
    }

    /// Draws text of a style, with its baseline at a point.
    mutating func write(_ text: String, at point: (Double, Double), _ style: String) {
        element("text", ["class": style, "x": Self.number(point.0), "y": Self.number(point.1)], text)
    }

    /// Draws a line of a style through points.
    mutating func stroke(_ points: [(x: Double, y: Double)], _ style: String) {
        element("path", ["class": style, "d": Self.path(points)])
    }

    /// Returns a line through points as the data of a path.
    static func path(_ points: [(x: Double, y: Double)], isClosed: Bool = false) -> String {
        var data = ""
        for (index, point) in points.enumerated() {
            data += (index == 0 ? "M" : "L") + number(point.x) + " " + number(point.y)
        }
        return data + (isClosed ? "Z" : "")
    }

    /// Returns a number with at most `digits` digits after the point, and no trailing zeros.
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
