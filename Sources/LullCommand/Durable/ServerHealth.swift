internal import Lull
internal import LullCore

/// What an operator of a server should watch.
struct ServerHealth {
    /// One figure, with its names.
    struct Measure {
        enum Value {
            case count(Int64)
            /// Nil for none.
            case bytes(Int64?)
            case duration(Duration?)
            case name(String)
        }

        /// The name in the line below the table.
        var name: String
        /// The name in a JSON object.
        var property: String
        /// The name of the metric, without its unit.
        var metric: String
        /// The metric's description.
        var help: String
        var value: Value
    }

    var measures: [Measure]

    /// The line below the table.
    var line: String { measures.map { "\($0.name): \($0.shown)" }.joined(separator: "; ") }

    /// Appends members of a JSON object.
    func appendJSON(to text: inout [UInt8]) {
        for measure in measures {
            text.append(string: ",\"\(measure.property)\":")
            switch measure.value {
            case .count(let count): text.append(string: "\(count)")
            case .bytes(let bytes): text.append(string: bytes.map { "\($0)" } ?? "null")
            case .duration(let duration): DecimalSeconds.append(duration, to: &text)
            case .name(let name): JSONText.append(Array(name.utf8), to: &text)
            }
        }
    }
}

extension ServerHealth.Measure {
    fileprivate var shown: String {
        switch value {
        case .count(let count): "\(count)"
        case .bytes(let bytes): bytes.map(CompactCommand.megabytes) ?? "none"
        case .duration(let duration): duration.map { DurationText.rounded(CoreDuration($0).nanoseconds) } ?? "none"
        case .name(let name): name
        }
    }
}
