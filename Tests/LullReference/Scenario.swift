import Foundation

/// One conformance case: calls, and the executions that must follow. Times are milliseconds.
public struct Scenario: Codable, Hashable, Sendable {
    /// The policy as it is written in the file.
    public struct Policy: Codable, Hashable, Sendable {
        /// Debounce or throttle.
        public var kind: ReferencePolicy.Kind
        /// The wait of a debounce.
        public var wait: Int?
        /// The interval of a throttle.
        public var interval: Int?
        /// The longest wait of a debounce.
        public var maxWait: Int?
        /// `leading`, `trailing`, or both.
        public var edges: [String]
        /// `restart` or `extend`.
        public var delayRule: String?
        /// The number of pending submits that are executed at once.
        public var maxCount: Int?
        /// The least time between two due instants of a key.
        public var spacing: Int?
    }

    /// What a caller does.
    public enum Call: String, Codable, Sendable {
        /// Submits a value under a key.
        case submit
        /// Executes what is pending, of all keys if none is named.
        case flush
        /// Drops what is pending, of all keys if none is named.
        case cancel
    }

    /// One call.
    public struct Operation: Codable, Hashable, Sendable {
        /// The instant.
        public var at: Int
        /// The kind of call.
        public var op: Call
        /// The key.
        public var key: String?
        /// The value. (`null` is read as nil, which ``ScenarioValue/null`` stands for.)
        public var value: ScenarioValue?
        /// The delay of this call alone.
        public var wait: Int?
    }

    /// One execution.
    public struct Expectation: Codable, Hashable, Sendable {
        /// When it is due.
        public var at: Int
        /// The key.
        public var key: String
        /// The value.
        public var value: ScenarioValue
        /// The number of submits behind it.
        public var count: Int
        /// Why.
        public var cause: ReferenceEdge
        /// The instant of the oldest submit behind it.
        public var first: Int

        /// Creates an execution from its parts.
        public init(at: Int, key: String, value: ScenarioValue, count: Int, cause: ReferenceEdge, first: Int) {
            self.at = at
            self.key = key
            self.value = value
            self.count = count
            self.cause = cause
            self.first = first
        }

        private enum CodingKeys: String, CodingKey {
            case at, key, value, count
            case cause = "edge"
            case first
        }
    }

    /// Its name.
    public var id: String
    /// The test that the situation was taken from.
    public var source: String
    /// The policy in force.
    public var policy: Policy
    /// The calls, in order.
    public var ops: [Operation]
    /// The executions, in order.
    public var expected: [Expectation]

    /// All cases: those of `scenarios.json` and of `spacing.json`.
    public static func all() throws -> [Scenario] {
        try ["scenarios", "spacing"].flatMap { name in
            guard let file = Bundle.module.url(forResource: name, withExtension: "json") else {
                throw CocoaError(.fileNoSuchFile)
            }
            return try JSONDecoder().decode([Scenario].self, from: Data(contentsOf: file))
        }
    }

    /// The setup of the case for the reference model.
    public var setup: ReferenceSetup {
        ReferenceSetup(
            ReferencePolicy(
                policy.kind, wait: policy.wait ?? policy.interval ?? 0, maxWait: policy.maxWait,
                leading: policy.edges.contains("leading"), trailing: policy.edges.contains("trailing"),
                extends: policy.delayRule == "extend", maxCount: policy.maxCount, spacing: policy.spacing))
    }

    /// Returns the executions of the case by the reference model.
    public func reference() -> [Expectation] {
        var model = ReferenceModel(setup)
        var values: [ScenarioValue] = []
        for operation in ops {
            model.advance(to: operation.at)
            model.endAll()
            switch operation.op {
            case .submit:
                model.submit(operation.key ?? "", at: operation.at, wait: operation.wait)
                values.append(operation.value ?? .null)
            case .flush: model.flush(operation.key, at: operation.at)
            case .cancel: model.cancel(operation.key, at: operation.at)
            }
            model.endAll()
        }
        while let due = model.alarm {
            model.advance(to: due)
            model.endAll()
        }
        return model.executions.map { execution in
            Expectation(
                at: execution.at, key: execution.key, value: values[execution.values[0]], count: execution.count,
                cause: execution.cause, first: execution.first)
        }
    }
}

extension ReferenceModel {
    /// Handlers take no time in a simulation.
    public mutating func endAll() {
        while let run = running.first { ended(run) }
    }
}
