internal import Lull
internal import LullCore

// The calls of producers in other languages wait in the inbox of a shard until a step touches their key. A worker that
// looks at what is due makes them; while it is paused or has no room, and in a process without one, the store does.

extension ShardedStore {
    /// Makes the calls that wait in the inbox of a shard.
    package func fold(_ place: ShardPlace) async throws(DurableError) {
        // Not without end, if more come all the time.
        for _ in 0..<100 {
            let keys = try await keysWithEntries(in: place, atMost: 100)
            if keys.isEmpty { return }
            // Whatever is done with a key makes its calls first.
            let calls = keys.map { key in
                let call = KeyCall<Void>(place.namespace, key) { _ in }
                call.isWorkers = true
                return call
            }
            await make(calls)
            for call in calls { try call.answer.get() }
        }
    }

    /// Takes note of a claim. One that has looked at what is due has made the calls in the inbox; while a worker is
    /// paused or has no room, the store does, a second apart.
    func noteClaim(in namespace: String, looksAtDue: Bool) {
        if options.now != nil { return }
        let isFirst = state.change { state in
            defer { if looksAtDue || state.claims[namespace] == nil { state.claims[namespace] = .now } }
            return state.claims.isEmpty
        }
        guard isFirst else { return }
        Task { [weak self] in
            while await self?.foldUnclaimed() == true { try? await Task.sleep(for: .seconds(1)) }
        }
    }

    /// Returns whether to come again.
    private func foldUnclaimed() async -> Bool {
        if connections.isClosed { return false }
        let names = state.change { $0.claims.filter { $0.value < .now - .seconds(1) }.map(\.key) }
        for name in names {
            for place in (try? await places(of: name)) ?? [] { try? await fold(place) }
        }
        return true
    }
}
