import Lull
import LullTesting
import TestSupport
import Testing

/// Semantics, section 5: releasing the last reference.
@Suite("Releasing the last reference")
struct OwnerTests {
    private let clock = ManualClock()

    @Test(.timeLimit(.minutes(1)))
    func `a value that is due in the far future is cancelled then: nothing would ever execute it`() async {
        let ended = Record<String>()
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let it = Debouncer(for: .seconds(1), clock: clock) { (value: Int) in value }
            it.submit(1, after: .seconds(Int64.max)) { outcome in
                ended.add("\(Ended(outcome))")
                continuation.resume()
            }
        }
        #expect(ended.all == ["cancelled"])
    }

    @Test(.timeLimit(.minutes(1)))
    func `a value that was put off until the far future is cancelled, too, also among many that were not`() async {
        let ended = Record<String>()
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let it = KeyedDebouncer(for: .seconds(1), clock: clock) { (_: Int, value: Int) in value }
            for key in 0..<1000 { it.submit(key, for: key) }
            it.submit(1, for: 500, after: .seconds(Int64.max)) { outcome in
                ended.add("\(Ended(outcome))")
                continuation.resume()
            }
        }
        #expect(ended.all == ["cancelled"])
    }

    @Test
    func `what is due some day is executed then`() async {
        let seen = Record<Int>()
        do {
            let it = Debouncer(for: .seconds(86_400), clock: clock) { (value: Int) in seen.add(value) }
            it(7)
        }
        await clock.advance(by: .seconds(86_400))
        #expect(seen.all == [7])
    }

    @Test
    func `what waits for the limit is executed then, also after a wake-up that turned out to be needless`() async {
        let (seen, door) = (Record<String>(), Door())
        do {
            let it = KeyedDebouncer(
                for: .seconds(1), options: .init(maxConcurrent: 1, limit: RateLimit(1, per: .seconds(10))),
                clock: clock
            ) { (key: String, value: Int) in
                seen.add(key)
                if key == "a" { await door.pass() }
            }
            for key in ["a", "b"] {
                it.submit(1, for: key)
                await clock.advance(by: .seconds(1), until: .started)
            }
            it.submit(1, for: "c", after: .seconds(5))
            it.cancel("c")
        }
        door.open()
        await clock.advance(by: .seconds(30))
        #expect(seen.all == ["a", "b"])
    }
}
