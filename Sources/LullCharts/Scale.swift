#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// How the values of an axis are spaced.
public enum Scale: Sendable {
    /// Equal differences have equal distances.
    case linear
    /// Equal ratios have equal distances. The values must be above zero.
    case logarithmic
    /// For shares from 0 to just below 1: 90 %, 99 % and 99.9 % have equal distances, which leaves room for rare cases.
    case nines

    /// Returns the coordinate of a value, which the axis scales to its length.
    func coordinate(_ value: Double) -> Double {
        switch self {
        case .linear: value
        case .logarithmic: log10(max(value, .leastNormalMagnitude))
        case .nines: -log10(max(1 - value, .leastNormalMagnitude))
        }
    }

    /// Returns the value at a coordinate.
    func value(at coordinate: Double) -> Double {
        switch self {
        case .linear: coordinate
        case .logarithmic: pow(10, coordinate)
        case .nines: 1 - pow(10, -coordinate)
        }
    }

    /// Returns round values within bounds, about as many as wished for, far enough apart for labels.
    func ticks(in bounds: ClosedRange<Double>, about wished: Int) -> [Double] {
        let all =
            switch self {
            case .linear: Self.steps(in: bounds, about: wished)
            case .logarithmic: Self.decades(in: bounds, about: wished)
            case .nines: [0, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999]
            }
        return all.filter { bounds.contains($0) }
    }

    /// Returns multiples of 1, 2 or 5 times a power of ten.
    private static func steps(in bounds: ClosedRange<Double>, about wished: Int) -> [Double] {
        let width = bounds.upperBound - bounds.lowerBound
        guard width > 0, width.isFinite else { return [bounds.lowerBound] }
        let rough = width / Double(max(1, wished))
        let power = pow(10, floor(log10(rough)))
        let step = [1, 2, 5, 10].map { $0 * power }.first { $0 >= rough * 0.999 } ?? 10 * power
        let first = Int((bounds.lowerBound / step).rounded(.up))
        let last = Int((bounds.upperBound / step).rounded(.down))
        guard first <= last else { return [] }
        return (first...last).map { Double($0) * step }
    }

    /// Returns powers of ten; if they are few, also 2 and 5 times each; if they are very many, only every second or
    /// third …
    private static func decades(in bounds: ClosedRange<Double>, about wished: Int) -> [Double] {
        let first = Int(floor(log10(bounds.lowerBound)))
        let last = Int(ceil(log10(bounds.upperBound)))
        let count = log10(bounds.upperBound / bounds.lowerBound)
        let factors: [Double] = 2 * count <= Double(wished) + 0.5 ? [1, 2, 5] : [1]
        let stride = max(1, Int((count / Double(max(1, wished))).rounded(.up)))
        return (first...last).filter { $0.isMultiple(of: stride) }.flatMap { power in
            factors.map { $0 * pow(10, Double(power)) }
        }
    }
}
