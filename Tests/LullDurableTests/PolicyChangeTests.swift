import Lull
import LullCore
import LullDurable
import Testing

/// All users of a namespace share one policy, which changes only if a program says so.
@Suite struct PolicyChangeTests {
    private static func rules(
        _ policy: Policy, combination: CombinationRule = .latest, isMerging: Bool = false, maxBatch: Int? = nil,
        limit: RateLimit? = nil, maxRunning: Int? = nil, whileRunning: DurableOverlapPolicy = .queue
    ) throws -> DurableRules {
        try DurableRules(
            policy, combination: combination, isMerging: isMerging, maxBatch: maxBatch, limit: limit,
            maxRunning: maxRunning, whileRunning: whileRunning)
    }

    @Test func `the error names what differs, and says what to do`() async throws {
        let store = MemoryStore()
        _ = try await DurableDebouncer<String, Int>(for: .seconds(2), namespace: "sync", in: store)
        let error = await #expect(throws: DurableError.self) {
            _ = try await DurableDebouncer<String, Int>(
                for: .seconds(5), maxWait: .milliseconds(90_500), maxCount: 10, namespace: "sync", in: store)
        }
        #expect(
            error?.description == """
                the namespace sync has another policy (wait: 2 s, here 5 s; maxWait: none, here 90500 ms; maxCount: \
                none, here 10): open it with the same, or change it for all that use it with changingPolicy: true
                """)
        let sync = try await DurableDebouncer<String, Int>(namespace: "sync", in: store)
        #expect(try await sync.submit(1, for: "a").dueIn == .seconds(2))
    }

    @Test func `what cannot change is refused in any case, and the error says so`() async throws {
        let store = MemoryStore()
        _ = try await DurableDebouncer<String, Int>(for: .seconds(2), namespace: "sync", in: store)
        for changingPolicy in [false, true] {
            let error = await #expect(throws: DurableError.self) {
                _ = try await DurableThrottler<String, Int>(
                    every: .seconds(2), namespace: "sync", in: store, changingPolicy: changingPolicy)
            }
            #expect(
                error?.description == """
                    the namespace sync has another policy (kind: debounce, here throttle; wait: 2 s, here interval: \
                    2 s; edges: trailing, here leading and trailing): kind, edges, combining and whileRunning cannot \
                    change, so open it with the same, or use another namespace
                    """)
        }
    }

    @Test func `every setting has its name and its value in the error`() throws {
        let plain = try Self.rules(.debounce(wait: .nanoseconds(2000)), combination: .collect)
        let full = try Self.rules(
            .debounce(
                wait: .nanoseconds(1500), maxWait: .seconds(9), edges: [.leading, .trailing], delayRule: .extend,
                maxCount: 3, spacing: .milliseconds(20)),
            combination: .collect, isMerging: true, maxBatch: 4,
            limit: RateLimit(starts: 40, period: .seconds(60), burst: 10), maxRunning: 5,
            whileRunning: .restart(interrupting: .whenSubmitted))
        let text = "\(DurableError.otherPolicy(namespace: "n", stored: plain, given: full))"
        let settings = [
            "wait: 2 µs, here 1500 ns", "maxWait: none, here 9 s", "edges: trailing, here leading and trailing",
            "delayRule: restart, here extend", "maxCount: none, here 3", "spacing: none, here 20 ms",
            "combining: collect, here merge", "maxBatch: none, here 4", "limit: none, here 40 in 60 s, burst 10",
            "maxRunning: none, here 5", "whileRunning: queue, here restart(interrupting: whenSubmitted)",
        ]
        #expect(text.contains("(\(settings.joined(separator: "; ")))"), "\(text)")
    }

    // On Apple platforms the line goes to the unified log.
    #if os(Linux)
        @Test func `a change is told in one line, by the process that makes it`() async {
            let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                let store = MemoryStore()
                for wait in [2, 5, 5] as [Int64] {
                    _ = try await DurableDebouncer<String, Int>(
                        for: .seconds(wait), namespace: "sync", in: store, changingPolicy: true)
                }
            }
            #expect(
                message(result) == """
                    Lull: the policy of the namespace sync was changed for all that use it: wait: 2 s, now 5 s

                    """)
        }
    #endif
}
