import Foundation

/// Sebastiano Vigna's SplitMix64: small and fast, with the same sequence for the same seed on every platform.
public struct SplitMix: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates the sequence of a seed.
    public init(seed: UInt64) {
        state = seed
    }

    /// Returns the next 64 bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }

    /// Returns true once in `chance` times.
    public mutating func oneIn(_ chance: Int) -> Bool { Int.random(in: 0..<chance, using: &self) == 0 }

    /// Returns one of the elements, all equally likely.
    public mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &self)]
    }
}

/// Returns a whole number from the environment, which sets the length or the seed of a test.
public func environment<Number: FixedWidthInteger>(_ name: String, default fallback: Number) -> Number {
    ProcessInfo.processInfo.environment[name].flatMap { Number($0) } ?? fallback
}
