import Lull
import LullTesting
import Synchronization
import Testing

final class Box<T: Sendable>: Sendable {
    let m: Mutex<[T]> = Mutex([])
    func add(_ t: T) { m.withLock { $0.append(t) } }
    var all: [T] { m.withLock { $0 } }
}

@Test func burstGivesOne() async {
    let clock = ManualClock()
    let seen = Box<String>()
    let save = Debouncer(for: .seconds(2), clock: clock) { (draft: String) in seen.add(draft) }
    save("a")
    save("ab")
    await clock.advance(by: .seconds(2))
    #expect(seen.all == ["ab"])
    #expect(save.counters.addUp)
}

@Test func liveBurst() async throws {
    let seen = Box<String>()
    let save = Debouncer(for: .milliseconds(50)) { (draft: String) in seen.add(draft); return draft.count }
    save("a")
    let o = try await save.outcome(of: "ab")
    guard case .executed(2) = o else { Issue.record("\(o)"); return }
    #expect(seen.all == ["ab"])
    print(save.counters)
}

@Test @MainActor func mainActor() async throws {
    let clock = ManualClock()
    var seen: [Int] = []
    let d = KeyedDebouncer(for: .seconds(1), whileRunning: .cancelRunning, clock: clock) { (k: String, v: Int) in
        seen.append(v)
        try await clock.sleep(for: .seconds(10))
        seen.append(-v)
    }
    d.submit(1, for: "a")
    await clock.advance(by: .seconds(1), until: .started)
    #expect(seen == [1])
    d.submit(2, for: "a")
    await clock.advance(by: .seconds(1), until: .started)
    #expect(seen == [1, 2])
    await clock.advance(by: .seconds(10))
    #expect(seen == [1, 2, -2])
    #expect(d.counters.superseded == 1)
}

@Test func started() async throws {
    for i in 0..<200 {
        let clock = ManualClock()
        let seen = Box<Int>()
        let d = Debouncer(for: .seconds(1), whileRunning: .cancelRunning, clock: clock) { (v: Int) in
            seen.add(v)
            try? await Task.sleep(for: .seconds(100))
        }
        d(i)
        await clock.advance(by: .seconds(1), until: .started)
        #expect(seen.all == [i])
        d.cancel(running: true)
        await clock.advance(by: .zero)
    }
}
