#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// How the values of an axis are spread over its length.
public enum Scale: Sendable {
    /// Equal differences take equal room.
    case linear
    /// Equal ratios take equal room. For values above zero.
    case logarithmic
    /// For shares from 0 to just below 1, so that what is rare has room: 90 %, 99 % and 99.9 % lie equally far apart.
    case nines

    /// The place of a value, before the axis is stretched to its length.
    func place(_ value: Double) -> Double {
        switch self {
        case .linear: value
        case .logarithmic: log10(max(value, .leastNormalMagnitude))
        case .nines: -log10(max(1 - value, .leastNormalMagnitude))
        }
    }

    /// The value at a place.
    func value(at place: Double) -> Double {
        switch self {
        case .linear: place
        case .logarithmic: pow(10, place)
        case .nines: 1 - pow(10, -place)
        }
    }

    /// Round values within bounds, far enough apart to be labelled, about as many as wished for.
    func ticks(in bounds: ClosedRange<Double>, about wished: Int) -> [Double] {
        let all =
            switch self {
            case .linear: Self.steps(in: bounds, about: wished)
            case .logarithmic: Self.decades(in: bounds, about: wished)
            case .nines: [0, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999]
            }
        return all.filter { bounds.contains($0) }
    }

    /// Multiples of 1, 2 or 5 times a power of ten.
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

    /// Powers of ten, with 2 and 5 times those where they are few; of very many, each second or third …
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
