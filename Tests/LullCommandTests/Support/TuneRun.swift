import Foundation
import Testing

/// Runs `lull tune` on a trace.
func tune(_ options: String, _ trace: String) throws -> ToolProcess.Outcome {
    try lull(["tune"] + options.split(separator: " ").map(String.init) + ["-"], input: Array(trace.utf8))
}

/// Returns the report of `lull tune` on a trace.
func tuneReport(_ options: String, _ trace: String) throws -> TuneReportJSON {
    let outcome = try tune("--format json " + options, trace)
    #expect(outcome.ending == 0)
    #expect(outcome.errors == "")
    return try JSONDecoder().decode(TuneReportJSON.self, from: Data(outcome.output.utf8))
}

/// Returns a trace with a submit at each of these instants.
func submits(at instants: [Double], key: String = "k") -> String {
    instants.map { "{\"at\":\($0),\"key\":\"\(key)\"}\n" }.joined()
}

/// A trace with bursts of ten submits 50ms apart, and pauses of ten seconds between the bursts.
var bursts: String {
    let offsets = (0..<10).map { Double($0) * 0.05 }
    let starts = stride(from: 0.0, to: 200, by: 10)
    return submits(at: starts.flatMap { start in offsets.map { start + $0 } })
}

/// The report of `lull tune`, decoded from JSON.
struct TuneReportJSON: Decodable {
    var submits: Int
    var keys: Int
    var span: Double
    var debounce: Table
    var throttle: Table
    var keysOfTheirOwn: [Own]?

    struct Table: Decodable {
        var waits: [Row]
        var suggested: Suggestion?
    }

    struct Row: Decodable {
        var wait: Double
        var executions: Int
        var saved: Double
        var delayFromLast: [String: Double]?
        var delayFromFirst: [String: Double]?
        var premature: Int
        var longest: Double?
        var efficient: Bool
    }

    struct Suggestion: Decodable {
        var wait: Double
        var because: String
        var maxWait: Double?
    }

    struct Own: Decodable {
        var key: String
        var wait: Double
    }
}
