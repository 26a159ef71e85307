package import LullDurable

// Calls of a store in the forms that tests make them in.

extension StoreCalls {
    package func flush(matching selection: DurableSelection, in namespace: String) async throws -> Int {
        try await change(.flush, .selection(selection), in: namespace).count
    }

    package func cancel(matching selection: DurableSelection, in namespace: String) async throws -> Int {
        try await change(.cancel, .selection(selection), in: namespace).count
    }

    package func flush(
        submittedBy submitter: Int64, in namespace: String
    ) async throws -> (flushed: [(key: [UInt8], generation: Int64)], mixed: Int) {
        let sum = try await change(.flush, .submitter(submitter), in: namespace)
        return (sum.flushed, sum.mixed)
    }

    package func cancel(
        submittedBy submitter: Int64, in namespace: String
    ) async throws -> (cancelled: Int, mixed: Int) {
        let sum = try await change(.cancel, .submitter(submitter), in: namespace)
        return (sum.count, sum.mixed)
    }

    package func list(
        in namespace: String, prefix: [UInt8], limit: Int
    ) async throws -> [DurableListing<[UInt8]>] {
        try await list(in: namespace, prefix: prefix, from: [], limit: limit)
    }
}

extension StoreCalls {
    /// Claims as a worker does: again in a moment, if the answer says so. A store that makes calls of its inbox
    /// meanwhile has locked their keys.
    package func claimed(_ claim: DurableClaim) async throws(DurableError) -> [DurableRun] {
        while true {
            let answer = try await self.claim(claim)
            guard answer.runs.isEmpty, let next = answer.next, next <= .milliseconds(50) else { return answer.runs }
            if next > .zero { try await wait(in: claim.namespace, after: answer.mark, atMost: next) }
        }
    }
}
