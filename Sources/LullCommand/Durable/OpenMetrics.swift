internal import Lull
internal import LullCore
internal import LullDurable

/// The status of a store in the OpenMetrics text format, for programs that collect or scrape it.
///
/// It is valid in Prometheus' older text format too, which textfile collectors and `promtool` read.
enum OpenMetrics {
    static func append(_ status: Status, to text: inout [UInt8]) {
        let health = status.health ?? []
        var begun: Set<String> = []
        for figure in DurableStatus.figures.map(\.figure) + health.map(\.figure) {
            // Figures of one family follow each other, for one namespace after the other.
            guard begun.insert(figure.family).inserted else { continue }
            figure.appendDescription(to: &text)
            for status in status.namespaces {
                for measure in status.measures where measure.figure.family == figure.family {
                    measure.appendSample([("namespace", status.namespace)] + measure.figure.labels, to: &text)
                }
            }
            for measure in health where measure.figure.family == figure.family {
                measure.appendSample(measure.figure.labels, to: &text)
            }
        }
        text.append("# EOF\n")
    }
}

extension Figure {
    /// The unit as metrics name it.
    private var unitName: String? {
        switch unit {
        case .bytes: "bytes"
        case .duration: "seconds"
        case .none, .name: nil
        }
    }

    /// The name of the metric.
    fileprivate var family: String {
        let ending = isCounter ? "total" : unit == .name ? "info" : unitName
        return metric + (ending.map { "_\($0)" } ?? "")
    }

    /// Appends the lines with which a family begins.
    ///
    /// A counter has no type: OpenMetrics declares it without `_total`, the older format with it, and both take a family without a
    /// type.
    fileprivate func appendDescription(to text: inout [UInt8]) {
        if !isCounter { text.append(string: "# TYPE \(family) gauge\n") }
        if let unitName { text.append(string: "# UNIT \(family) \(unitName)\n") }
        text.append(string: "# HELP \(family) \(help)\n")
    }
}

extension Measure {
    fileprivate func appendSample(_ labels: [(name: String, value: String)], to text: inout [UInt8]) {
        var labels = labels
        if case .name(let name) = value { labels.append(("name", name)) }
        let list = labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
        text.append(string: labels.isEmpty ? "\(figure.family) " : "\(figure.family){\(list)} ")
        switch value {
        case .number(let number) where figure.unit == .duration: DecimalSeconds.append(number ?? 0, to: &text)
        case .number(let number): text.append(string: "\(number ?? 0)")
        case .name: text.append("1")
        }
        text.append("\n")
    }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
