internal import Lull
internal import LullCore
internal import LullDurable

/// The status of a store as metrics, for programs that collect or scrape it.
enum OpenMetrics {
    /// In which text a program wants them.
    enum Format {
        /// Valid as OpenMetrics and as Prometheus' older text, for files that readers of either collect.
        ///
        /// Counters have no type in it: OpenMetrics declares them without `_total`, the older text with it, and both
        /// take a family without a type.
        case both
        case openMetrics
        case prometheus
    }

    static func append(_ status: StoreStatus, as format: Format = .both, to text: inout [UInt8]) {
        let health = status.health ?? []
        var begun: Set<String> = []
        for figure in DurableStatus.figures.map(\.figure) + health.map(\.figure) {
            // Figures of one family follow each other, for one namespace after the other.
            guard begun.insert(figure.family).inserted else { continue }
            figure.appendDescription(as: format, to: &text)
            for status in status.namespaces {
                for measure in status.measures where measure.figure.family == figure.family {
                    measure.appendSample([("namespace", status.namespace)] + measure.figure.labels, to: &text)
                }
            }
            for measure in health where measure.figure.family == figure.family {
                measure.appendSample(measure.figure.labels, to: &text)
            }
        }
        if format != .prometheus { text.append("# EOF\n") }
    }
}

extension StatusFigure {
    /// The unit as metrics name it.
    private var unitName: String? {
        switch unit {
        case .bytes: "bytes"
        case .duration: "seconds"
        case .none, .name: nil
        }
    }

    fileprivate var family: String {
        let ending = isCounter ? "total" : unit == .name ? "info" : unitName
        return metric + (ending.map { "_\($0)" } ?? "")
    }

    /// Appends the lines with which a family begins.
    fileprivate func appendDescription(as format: OpenMetrics.Format, to text: inout [UInt8]) {
        let name = format == .openMetrics && (isCounter || unit == .name) ? metric : family
        let type: String? =
            switch format {
            case .both: isCounter ? nil : "gauge"
            case .openMetrics: isCounter ? "counter" : unit == .name ? "info" : "gauge"
            case .prometheus: isCounter ? "counter" : "gauge"
            }
        if let type { text.append(string: "# TYPE \(name) \(type)\n") }
        if let unitName, format != .prometheus { text.append(string: "# UNIT \(name) \(unitName)\n") }
        text.append(string: "# HELP \(name) \(help)\n")
    }
}

extension MeasuredFigure {
    fileprivate func appendSample(_ labels: [(name: String, value: String)], to text: inout [UInt8]) {
        var labels = labels
        if case .name(let name) = value { labels.append(("name", name)) }
        text.append(string: figure.family)
        for (index, label) in labels.enumerated() {
            text.append(string: "\(index == 0 ? "{" : ",")\(label.name)=\"")
            Self.appendEscaped(label.value, to: &text)
            text.append(UInt8(ascii: "\""))
        }
        text.append(string: labels.isEmpty ? " " : "} ")
        switch value {
        case .number(let number) where figure.unit == .duration: DecimalSeconds.append(number ?? 0, to: &text)
        case .number(let number): text.append(string: "\(number ?? 0)")
        case .name: text.append("1")
        }
        text.append("\n")
    }

    /// Appends the value of a label byte by byte: characters would hide a newline after a carriage return, and a
    /// quotation mark below an accent.
    private static func appendEscaped(_ value: String, to text: inout [UInt8]) {
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): text.append("\\\\")
            case UInt8(ascii: "\""): text.append("\\\"")
            case UInt8(ascii: "\n"): text.append("\\n")
            default: text.append(byte)
            }
        }
    }
}
