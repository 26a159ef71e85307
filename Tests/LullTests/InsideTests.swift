import Lull
import LullTesting
import TestSupport
import Testing

/// The code that counts as inside an execution (semantics, section 5): there, the forms that wait do not.
@Suite("To wait for a debouncer")
struct InsideTests {
    let clock = ManualClock()
    let seen = Record<String>()
    let holder = Guarded<KeyedDebouncer<String, Int, Int>?>(nil)

    /// A debouncer whose key "slow" takes a second, and whose other keys run `body`.
    func make(
        onFailure: (@Sendable (any Error, String) async -> Void)? = nil,
        _ body: @escaping @Sendable (String) async throws -> Void
    ) -> KeyedDebouncer<String, Int, Int> {
        let it = KeyedDebouncer(for: .seconds(1), clock: clock, onFailure: onFailure) {
            [clock, seen] (key: String, value: Int) in
            if key == "slow" {
                try await clock.sleep(for: .seconds(1))
                seen.add("slow has ended")
            } else {
                try await body(key)
            }
            return value
        }
        _ = holder.exchange(it)
        return it
    }

    /// Starts a slow execution and waits for it.
    static func waitForSlow(
        _ holder: Guarded<KeyedDebouncer<String, Int, Int>?>, _ seen: Record<String>
    ) async {
        holder.value?.submit(1, for: "slow")
        await holder.value?.flushAndWait()
        seen.add("waited")
    }

    @Test
    func `waits in a task that has outlived the handler which made it`() async throws {
        let (end, tasks) = (Door(), Record<Task<Void, Never>>())
        let it = make { [holder, seen] _ in
            tasks.add(
                Task {
                    await end.pass()
                    await Self.waitForSlow(holder, seen)
                })
        }
        it.submit(1, for: "quick")
        await clock.advance(by: .seconds(1))
        #expect(it.counters.executed == 1)
        end.open()
        try await waitUntil { it.counters.running != 0 }
        await clock.advance(by: .seconds(1))
        await tasks.all[0].value
        #expect(seen.all == ["slow has ended", "waited"])
        _ = holder.exchange(nil)
    }

    @Test
    func `waits in the completion of a submit that no handler gets`() async {
        let it = make { _ in }
        it.submit(1, for: "quick") { [holder, seen] _ in await Self.waitForSlow(holder, seen) }
        it.cancel("quick")
        await clock.advance(by: .zero)
        #expect(seen.all == [])
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["slow has ended", "waited"])
        _ = holder.exchange(nil)
    }

    @Test
    func `takes no time in the completion of an execution, which holds up its key`() async {
        let it = make { _ in }
        it.submit(1, for: "quick") { [holder, seen] _ in await Self.waitForSlow(holder, seen) }
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["waited"])
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["waited", "slow has ended"])
        _ = holder.exchange(nil)
    }

    @Test
    func `takes no time in the failure handler, which holds up its key`() async {
        let it = make(onFailure: { [holder, seen] _, _ in await Self.waitForSlow(holder, seen) }) { _ in
            throw Refusal()
        }
        it.submit(1, for: "quick")
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["waited"])
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["waited", "slow has ended"])
        _ = holder.exchange(nil)
    }

    @Test
    func `waits for a debouncer at the address of the one whose handler made the task`() async throws {
        for _ in 0..<200 {
            let (isGone, tasks) = (Door(), Record<Task<Int, Never>>())
            var first: Debouncer<Void, Void>? = Debouncer(for: .zero) {
                tasks.add(
                    Task {
                        await isGone.pass()
                        let second = Debouncer(for: .zero) { for _ in 0..<50 { await Task.yield() } }
                        second()
                        await second.flushAndWait()
                        return second.counters.executed
                    })
            }
            weak let runtime = first?.runtime
            first?()
            await first?.flushAndWait()
            first = nil
            try await waitUntil { runtime == nil }
            isGone.open()
            let executed = await tasks.all[0].value
            try #require(executed == 1)
        }
    }

    @Test
    func `takes no time from the tasks of a handler that is running`() async {
        let it = make { [holder, seen] _ in
            await withTaskGroup { group in
                group.addTask { await holder.value?.flushAndWait() }
                group.addTask { await holder.value?.shutDownAndWait() }
            }
            await Task { await holder.value?.flushAndWait() }.value
            seen.add("ended")
        }
        it.submit(1, for: "quick")
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["ended"])
        _ = holder.exchange(nil)
    }
}
