internal import Lull
internal import LullCore
internal import LullDurable

/// The status of a store in the OpenMetrics text format, for programs that collect or scrape it.
///
/// It is valid in Prometheus' older text format too, which textfile collectors and `promtool` read.
enum OpenMetrics {
    static func append(_ status: Status, to text: inout [UInt8]) {
        let all = status.namespaces
        begin("lull_keys", "gauge", "Keys with a value or a run in a state; a key can be in several.", &text)
        for status in all {
            for (state, count) in [
                ("pending", status.pending), ("ready", status.ready), ("running", status.running),
                ("retrying", status.retrying),
            ] {
                sample("lull_keys", status, [("state", state)], &text)
                text.append(string: "\(count)\n")
            }
        }
        begin("lull_dead_runs", "gauge", "Runs that have failed for good and are kept.", &text)
        for status in all {
            sample("lull_dead_runs", status, [], &text)
            text.append(string: "\(status.dead)\n")
        }
        begin(
            "lull_oldest_due_seconds", "gauge",
            "How long the oldest work that waits for a worker has waited; 0 if none waits.", unit: "seconds",
            &text)
        for status in all {
            sample("lull_oldest_due_seconds", status, [], &text)
            DecimalSeconds.append(CoreDuration(status.oldestDue ?? .zero).nanoseconds, to: &text)
            text.append("\n")
        }
        begin("lull_attempts_total", nil, "Attempts at runs that have started.", &text)
        for status in all {
            sample("lull_attempts_total", status, [], &text)
            text.append(string: "\(status.attempts)\n")
        }
        begin("lull_lost_leases_total", nil, "Runs that were taken from a worker whose lease had expired.", &text)
        for status in all {
            sample("lull_lost_leases_total", status, [], &text)
            text.append(string: "\(status.lostLeases)\n")
        }
        for measure in status.health?.measures ?? [] { append(measure, &text) }
        text.append("# EOF\n")
    }

    private static func append(_ measure: ServerHealth.Measure, _ text: inout [UInt8]) {
        let name = measure.metric
        switch measure.value {
        case .count(let count):
            begin(name, "gauge", measure.help, &text)
            text.append(string: "\(name) \(count)\n")
        case .bytes(let bytes):
            begin(name + "_bytes", "gauge", measure.help, unit: "bytes", &text)
            text.append(string: "\(name)_bytes \(bytes ?? 0)\n")
        case .duration(let duration):
            begin(name + "_seconds", "gauge", measure.help, unit: "seconds", &text)
            text.append(string: "\(name)_seconds ")
            DecimalSeconds.append(CoreDuration(duration ?? .zero).nanoseconds, to: &text)
            text.append("\n")
        case .name(let value):
            begin(name + "_info", "gauge", measure.help, &text)
            text.append(string: "\(name)_info{name=\"\(escaped(value))\"} 1\n")
        }
    }

    /// Begins a family.
    ///
    /// - Parameter type: Nil for a counter: OpenMetrics declares it without `_total`, the older format with it, and both take a
    ///   family without a type.
    private static func begin(
        _ family: String, _ type: String?, _ help: String, unit: String? = nil, _ text: inout [UInt8]
    ) {
        if let type { text.append(string: "# TYPE \(family) \(type)\n") }
        if let unit { text.append(string: "# UNIT \(family) \(unit)\n") }
        text.append(string: "# HELP \(family) \(help)\n")
    }

    /// Appends a sample up to its value.
    private static func sample(
        _ name: String, _ status: DurableStatus, _ labels: [(name: String, value: String)], _ text: inout [UInt8]
    ) {
        let labels = ([("namespace", status.namespace)] + labels).map { "\($0)=\"\(escaped($1))\"" }
        text.append(string: "\(name){\(labels.joined(separator: ","))} ")
    }

    private static func escaped(_ value: String) -> String {
        var text = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
