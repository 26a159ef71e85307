internal import LullDurable
public import Testing

/// One thing that every durable store does, as a test.
///
/// A store's own tests run all of them:
/// ```swift
/// @Test(arguments: ConformanceCase.all)
/// func conforms(_ case: ConformanceCase) async throws { try await `case`.run(on: MyMaker()) }
/// ```
public struct ConformanceCase: Sendable, CustomTestStringConvertible {
    /// What a store does.
    public let name: String
    private let limits: DurableLimits
    private let body: @Sendable (Bench) async throws -> Void

    init(
        _ name: String, limits: DurableLimits = DurableLimits(),
        _ body: @escaping @Sendable (Bench) async throws -> Void
    ) {
        self.name = name
        self.limits = limits
        self.body = body
    }

    /// The name of the test.
    public var testDescription: String { name }

    /// Examines a store of one kind; what it does not do is recorded as an issue of the test that runs.
    public func run(on maker: any StoreMaker) async throws {
        try await Bench.with(maker, limits: limits, body)
    }

    /// What every store does.
    public static let all =
        submits + combinations + submitters + batches + claims + leases + reports + attempts + deadRuns + ends + tokens
        + keeping
        + namespaces + looking + waking + scenarios

    /// What a store does that makes its own time from the clocks of a machine (``StoreTime``).
    public static let ownTime = clocks
}
