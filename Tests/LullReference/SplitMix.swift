import Foundation

/// Sebastiano Vigna's SplitMix64: small, quick, and the same sequence for the same seed on every platform.
public struct SplitMix: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// The sequence that belongs to a seed.
    public init(seed: UInt64) {
        state = seed
    }

    /// The next 64 bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }

    /// True once in `chance` times.
    public mutating func oneIn(_ chance: Int) -> Bool { Int.random(in: 0..<chance, using: &self) == 0 }

    /// One of the elements, each as likely as the others.
    public mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &self)]
    }
}

/// A whole number from the environment: how a longer or a repeated test is asked for.
public func environment<Number: FixedWidthInteger>(_ name: String, default fallback: Number) -> Number {
    ProcessInfo.processInfo.environment[name].flatMap { Number($0) } ?? fallback
}
