internal import LullDurable
import Testing

/// A rule for every durable store, as a test.
///
/// A store's own tests run all of them:
/// ```swift
/// @Test(arguments: ConformanceCase.all)
/// func conforms(_ case: ConformanceCase) async throws { try await `case`.run(on: MyMaker()) }
/// ```
package struct ConformanceCase: Sendable, CustomTestStringConvertible {
    /// The body of the test.
    package let name: String
    private let limits: DurableLimits
    private let body: @Sendable (StoreFixture) async throws -> Void

    init(
        _ name: String, limits: DurableLimits = DurableLimits(),
        _ body: @escaping @Sendable (StoreFixture) async throws -> Void
    ) {
        self.name = name
        self.limits = limits
        self.body = body
    }

    /// The name of the test.
    package var testDescription: String { name }

    /// Tests a kind of store, and records violations as issues of the current test.
    package func run(on maker: any StoreMaker) async throws {
        try await StoreFixture.with(maker, limits: limits, body)
    }

    /// The rules for every store.
    package static let all = short + scenarios

    /// All but the published scenarios, which take longest.
    package static let short =
        submits + spacing + combinations + submitters + batches + claims + leases + reports + attempts + deadRuns + ends
        + tokens + keeping + namespaces + policies + forgetting + workers + looking + counters + waking
        + restarting + touching + pauses + pausesWithAnEnd + answers + limiting + selections + contexts + upcoming
        + knownFaults

    /// The rules for a store that derives its time from the clocks of a machine (``StoreTime``).
    package static let ownTime = clocks
}
