internal import LullCharts
internal import LullCore
internal import LullTuning

// The report as pictures: what each wait costs and saves, and what some of them do to a burst.

extension TuneReport {
    /// The policies to draw: the suggested debounce between a shorter and a longer one, and the suggested throttle.
    var policiesToDraw: [(name: String, policy: Policy, colour: Int)] {
        var policies: [(name: String, policy: Policy, colour: Int)] = []
        for (colour, table) in tables.enumerated() {
            guard let middle = indexToShow(table) else { continue }
            // The nearest waits of the series would look too much alike.
            let others = colour == 0 ? [middle - 4, middle, middle + 4] : [middle]
            for index in others where table.range.contains(index) {
                let policy = results[index].policy
                policies.append(("\(table.name) \(DurationText.exact(policy.wait))", policy, colour))
            }
        }
        return policies
    }

    /// The policy for which to choose an excerpt.
    var policyToShow: Policy? {
        tables.lazy.compactMap(indexToShow).first.map { results[$0].policy }
    }

    /// Returns the suggested policy, or else that in the middle of the series.
    private func indexToShow(_ table: PolicyTable) -> Int? {
        table.suggestion?.index ?? (table.range.isEmpty ? nil : table.range.lowerBound + table.range.count / 2)
    }

    /// Returns a chart of saving over delay, with a point for each wait.
    func chart(source: String, _ targets: Targets) -> LineChart {
        let series = tables.filter { !$0.range.isEmpty }.map { table in
            LineChart.Series(
                table.name,
                table.range.map { index in
                    let result = results[index]
                    return LineChart.Point(
                        Double(max(result.delay.nanoseconds, leastDelay)), result.saved,
                        label: DurationText.exact(result.policy.wait),
                        isChosen: table.suggestion?.index == index)
                })
        }
        let delays = series.flatMap(\.points).map(\.x)
        return LineChart(
            title: "What each wait costs and saves",
            subtitle: "\(counts).\(answers.isEmpty ? "" : " Ringed: the suggested wait\(targets.condition).")",
            source: source,
            x: Axis(
                "delay from the last submit to the execution (nine of ten are shorter)", .nanoseconds, .logarithmic,
                Axis.bounds(of: delays, .logarithmic)),
            y: Axis("submits that needed no execution", .share, .linear, 0...1), series: series)
    }

    /// The start of the axis, which is logarithmic and cannot show zero.
    private var leastDelay: Int64 {
        let delays = results.map(\.delay.nanoseconds).filter { $0 > 0 }
        let shortest = results.map(\.policy.wait.nanoseconds).min() ?? 1
        return max(delays.min() ?? 1, shortest / 5, 1)
    }
}

extension Targets {
    /// The targets in words, such as " for a delay of at most 300ms".
    fileprivate var condition: String {
        var parts: [String] = []
        if let saving { parts.append("a saving of at least \(Percent.shown(saving))") }
        if let delay { parts.append("a delay of at most \(DurationText.exact(delay))") }
        return parts.isEmpty ? "" : " for \(parts.joined(separator: " and "))"
    }
}
