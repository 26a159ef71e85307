/// An axis of a chart: its title, its range, and how its values are spaced and written.
public struct Axis: Sendable {
    /// The title, with the unit if the values' labels do not have one.
    public var title: String
    /// The kind of values, which determines how they are written.
    public var quantity: Quantity
    /// How values are spaced.
    public var scale: Scale
    /// The first and last value of the axis.
    public var bounds: ClosedRange<Double>

    /// Creates an axis from one value to another.
    public init(_ title: String, _ quantity: Quantity, _ scale: Scale = .linear, _ bounds: ClosedRange<Double>) {
        self.title = title
        self.quantity = quantity
        self.scale = scale
        self.bounds = bounds
    }

    /// The kinds of values on an axis.
    public enum Quantity: Sendable {
        /// Counts: 500, 10k, 2.5M.
        case count
        /// Nanoseconds, written in a suitable unit: 80 ns, 1.5 µs, 20 ms.
        case nanoseconds
        /// Fractions of one, written in percent.
        case share

        /// Returns a value as text.
        func text(_ value: Double) -> String {
            switch self {
            case .count: Self.scaled(value, ["", "k", "M", "G"])
            case .nanoseconds: Self.scaled(value, [" ns", " µs", " ms", " s"])
            case .share: SVG.number(100 * value, digits: 2) + " %"
            }
        }

        /// Returns a value in the largest unit in which it is at least one.
        private static func scaled(_ value: Double, _ units: [String]) -> String {
            var rest = value
            var unit = 0
            // Powers of floating-point numbers may come out as 999.9999 instead of 1000.
            while abs(rest) >= 999.999, unit < units.count - 1 {
                rest /= 1000
                unit += 1
            }
            return SVG.number(rest, digits: 2) + (rest == 0 ? "" : units[unit])
        }
    }

    /// Returns the position of a value on the axis, from 0 at its start to 1 at its end. Values beyond the bounds are
    /// clamped.
    func position(_ value: Double) -> Double {
        let first = scale.coordinate(bounds.lowerBound)
        let last = scale.coordinate(bounds.upperBound)
        guard last > first else { return 0 }
        return min(1, max(0, (scale.coordinate(value) - first) / (last - first)))
    }
}

extension Axis {
    /// Returns bounds that contain all values and end at round ones.
    public static func bounds(of values: [Double], _ scale: Scale) -> ClosedRange<Double> {
        guard let least = values.min(), let most = values.max() else { return 0...1 }
        switch scale {
        case .linear:
            // Start at zero, so that lengths can be compared.
            let low = min(0, least)
            let steps = Scale.linear.ticks(in: low...max(most, low + .leastNormalMagnitude), about: 6)
            guard steps.count > 1 else { return low...(low + max(1, most - low)) }
            let step = steps[1] - steps[0]
            return (low / step).rounded(.down) * step...(most / step).rounded(.up) * step
        case .logarithmic:
            func power(_ value: Double, _ rule: FloatingPointRoundingRule) -> Double {
                let coordinate = scale.coordinate(value)
                // 1, 2 or 5 times a power of ten.
                let decade = scale.value(at: coordinate.rounded(.down))
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
