package import LullCore

/// A store that leaves it to Swift what becomes of a row: the calls on a single key, said here once for all of them.
package protocol KeyStepStore: StoreCalls {
    /// The rows as a step sees them.
    associatedtype Table: DurableTable

    /// Makes one atomic step on a key, which is committed before this returns.
    ///
    /// - Parameter body: The step. It may run several times, and has no effect but on the table.
    func step<Answer: Sendable>(
        _ kind: StepAccess.Kind, on key: [UInt8], in namespace: String,
        _ body: @escaping @Sendable (inout Table, DurableNamespace) throws(DurableError) -> Answer
    ) async throws(DurableError) -> Answer
}

/// What a step does, as far as it is known before it is made: a server loads that in one trip.
package struct StepAccess: Sendable {
    /// The kinds of steps.
    package enum Kind: Sendable {
        /// It changes nothing.
        case reads
        /// It is a producer's, or an operator's.
        case writes
        /// It is a worker's, which may work also where there is no room for more.
        case works
    }

    /// What kind of step it is.
    package var kind: Kind
    /// The namespace; nil for all.
    package var namespace: String?
    /// The keys that it certainly looks at.
    package var keys: [[UInt8]]
    /// The tokens of its submits.
    package var tokens: [String]

    /// Creates the access of a step.
    package init(_ kind: Kind, _ namespace: String?, keys: [[UInt8]] = [], tokens: [String] = []) {
        self.kind = kind
        self.namespace = namespace
        self.keys = keys
        self.tokens = tokens
    }
}

extension KeyStepStore {
    @discardableResult
    package func touch(_ key: [UInt8], in namespace: String, wait: CoreDuration?) async throws(DurableError) -> Bool {
        try await step(.writes, on: key, in: namespace) { table, namespace throws(DurableError) in
            try table.touch(key, wait: wait, in: namespace, at: table.now)
        }
    }

    package func state(of receipt: DurableReceipt) async throws(DurableError) -> DurableState {
        try await step(.reads, on: receipt.key, in: receipt.namespace) { table, namespace throws(DurableError) in
            try table.state(of: receipt, in: namespace, at: table.now)
        }
    }
}
