/// One of the two directions of a chart: what it shows, from where to where, and how.
public struct Axis: Sendable {
    /// What is shown, with the unit if the labels of the values do not say it.
    public var title: String
    /// What the values are, which says how they are written.
    public var quantity: Quantity
    /// How they are spread.
    public var scale: Scale
    /// The first and the last value that is shown.
    public var bounds: ClosedRange<Double>

    /// An axis from one value to another.
    public init(_ title: String, _ quantity: Quantity, _ scale: Scale = .linear, _ bounds: ClosedRange<Double>) {
        self.title = title
        self.quantity = quantity
        self.scale = scale
        self.bounds = bounds
    }

    /// What the values of an axis are.
    public enum Quantity: Sendable {
        /// Numbers of things: 500, 10k, 2.5M.
        case count
        /// Nanoseconds, written in the unit that suits them: 80 ns, 1.5 µs, 20 ms.
        case nanoseconds
        /// Parts of one, written in per cent.
        case share

        /// How a value is written.
        func text(_ value: Double) -> String {
            switch self {
            case .count: Self.scaled(value, by: 1000, from: 0, ["", "k", "M", "G"])
            case .nanoseconds: Self.scaled(value, by: 1000, from: 0, [" ns", " µs", " ms", " s"])
            case .share: SVG.number(100 * value, digits: 2) + " %"
            }
        }

        /// A value in the largest unit of which it has at least one.
        private static func scaled(_ value: Double, by step: Double, from start: Int, _ units: [String]) -> String {
            var rest = value
            var unit = start
            // Of 999.9999, which comes of computing with powers, one wants 1000.
            while abs(rest) >= step * 0.999_999, unit < units.count - 1 {
                rest /= step
                unit += 1
            }
            return SVG.number(rest, digits: 2) + (rest == 0 ? "" : units[unit])
        }
    }

    /// Where a value lies between the beginning (0) and the end (1) of the axis; beyond that it is cut off.
    func position(_ value: Double) -> Double {
        let first = scale.place(bounds.lowerBound)
        let last = scale.place(bounds.upperBound)
        guard last > first else { return 0 }
        return min(1, max(0, (scale.place(value) - first) / (last - first)))
    }
}

extension Axis {
    /// Bounds that hold all values, and end at round ones.
    public static func bounds(of values: [Double], _ scale: Scale) -> ClosedRange<Double> {
        guard let least = values.min(), let most = values.max() else { return 0...1 }
        switch scale {
        case .linear:
            // Lengths that are drawn from zero can be compared.
            let low = min(0, least)
            let steps = Scale.linear.ticks(in: low...max(most, low + .leastNormalMagnitude), about: 6)
            guard steps.count > 1 else { return low...(low + max(1, most - low)) }
            let step = steps[1] - steps[0]
            return (low / step).rounded(.down) * step...(most / step).rounded(.up) * step
        case .logarithmic:
            func power(_ value: Double, _ rule: FloatingPointRoundingRule) -> Double {
                let place = scale.place(value)
                // 1, 2 or 5 times a power of ten.
                let decade = scale.value(at: place.rounded(.down))
                let factors: [Double] = rule == .down ? [5, 2, 1] : [1, 2, 5, 10]
                let fits = { (factor: Double) in
                    rule == .down ? factor * decade <= value * 1.0001 : factor * decade >= value * 0.9999
                }
                return (factors.first(where: fits) ?? 1) * decade
            }
            let low = power(least, .down)
            return low...max(power(most, .up), 2 * low)
        case .nines: return 0...min(most, 0.9999)
        }
    }
}
