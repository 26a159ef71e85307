internal import LullCharts
internal import LullCore

// The report as pictures: what each wait costs and saves, and what a few of them do to a burst.

extension TuneReport {
    /// Policies for a stretch: the suggested debounce between a shorter and a longer one, and the suggested throttle.
    var policiesToDraw: [(name: String, policy: Policy, colour: Int)] {
        var policies: [(name: String, policy: Policy, colour: Int)] = []
        for (colour, table) in tables.enumerated() {
            guard let middle = indexToShow(table) else { continue }
            // The neighbours on the ladder are too much alike.
            let others = colour == 0 ? [middle - 4, middle, middle + 4] : [middle]
            for index in others where table.range.contains(index) {
                let policy = outcomes[index].policy
                policies.append(("\(table.name) \(DurationText.exact(policy.wait))", policy, colour))
            }
        }
        return policies
    }

    /// The policy that a stretch should show best.
    var policyToShow: Policy? {
        tables.lazy.compactMap(indexToShow).first.map { outcomes[$0].policy }
    }

    /// Where nothing is suggested, the middle of the ladder.
    private func indexToShow(_ table: Kind) -> Int? {
        table.choice?.index ?? (table.range.isEmpty ? nil : table.range.lowerBound + table.range.count / 2)
    }

    /// Saving against delay, each wait a point.
    func chart(source: String) -> LineChart {
        let series = tables.filter { !$0.range.isEmpty }.map { table in
            LineChart.Series(
                table.name,
                table.range.map { index in
                    let outcome = outcomes[index]
                    return LineChart.Point(
                        Double(max(outcome.delay.nanoseconds, leastDelay)), outcome.saved,
                        label: DurationText.exact(outcome.policy.wait),
                        isChosen: table.choice?.index == index)
                })
        }
        let delays = series.flatMap(\.points).map(\.x)
        return LineChart(
            title: "What each wait costs and saves",
            subtitle: "\(counts).\(objection == nil ? " Ringed: the suggested wait." : "")",
            source: source,
            x: Axis(
                "delay from the last submit to the execution (nine of ten are shorter)", .nanoseconds, .logarithmic,
                Axis.bounds(of: delays, .logarithmic)),
            y: Axis("submits that needed no execution", .share, .linear, 0...1), series: series)
    }

    /// What the axis begins with: no delay at all has no place on it.
    private var leastDelay: Int64 {
        let delays = outcomes.map(\.delay.nanoseconds).filter { $0 > 0 }
        let shortest = outcomes.map(\.policy.wait.nanoseconds).min() ?? 1
        return max(delays.min() ?? 1, shortest / 5, 1)
    }
}
