import TestSupport
import Dispatch
import LullDispatch
import LullTesting
import Testing

@Suite("A last-out queue")
@MainActor
struct LastOutQueueTests {
    let clock = ManualClock()
    let seen = Record<String>()

    @Test
    func `runs the newest task of a key after a delay without another one`() async {
        let queue = LastOutQueue(clock: clock)
        for volume in 0...10 {
            queue.enqueue(forKey: "volume") { [seen] in seen.add("volume \(volume)") }
            await clock.advance(by: .seconds(1))
        }
        #expect(seen.all == [])
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["volume 10"])
    }

    @Test
    func `runs onStart right before the task, of the same call`() async {
        let queue = LastOutQueue(delay: 1, clock: clock)
        for call in 1...2 {
            queue.enqueue(forKey: 1, onStart: { [seen] in seen.add("start \(call)") }) { [seen] in
                seen.add("task \(call)")
            }
        }
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["start 2", "task 2"])
    }

    @Test
    func `keeps keys apart, whatever their types`() async {
        let queue = LastOutQueue(delay: 1, clock: clock)
        queue.enqueue(forKey: "1") { [seen] in seen.add("text") }
        queue.enqueue(forKey: 1) { [seen] in seen.add("number") }
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["text", "number"])
    }

    @Test
    func `keeps keys of different types apart, also if Swift converts one to the other`() async {
        let queue = LastOutQueue(delay: 1, clock: clock)
        func enqueue(_ key: some Hashable & Sendable) {
            queue.enqueue(forKey: key) { [seen] in seen.add("\(type(of: key)) first") }
            queue.enqueue(forKey: key) { [seen] in seen.add("\(type(of: key))") }
        }
        enqueue(1)
        enqueue(1 as UInt8)
        enqueue(1.0)
        enqueue(1 as Int?)
        enqueue([1])
        enqueue([1 as Int8])
        enqueue(Set([1]))
        enqueue(Set([1 as UInt]))
        enqueue(["1": 1])
        enqueue(["1": 1.0])
        enqueue(Screen(1))
        enqueue(Panel(1))
        await clock.advance(by: .seconds(1))
        #expect(
            seen.all == [
                "Int", "UInt8", "Double", "Optional<Int>", "Array<Int>", "Array<Int8>", "Set<Int>", "Set<UInt>",
                "Dictionary<String, Int>", "Dictionary<String, Double>", "Screen", "Panel",
            ])
    }

    @Test
    func `compares keys as their type does, whatever class an object is of`() async {
        let queue = LastOutQueue(delay: 1, clock: clock)
        for (number, key) in [Screen(1), Panel(1), Screen(2)].enumerated() {
            queue.enqueue(forKey: key) { [seen] in seen.add("\(number)") }
        }
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["1", "2"])
    }

    private class Screen: Hashable, @unchecked Sendable {
        // Proof of @unchecked Sendable: the only property, also of the subclass, is a constant.
        private let number: Int

        init(_ number: Int) { self.number = number }

        static func == (one: Screen, other: Screen) -> Bool { one.number == other.number }

        func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }

    private final class Panel: Screen, @unchecked Sendable {}

    @Test
    func `has run the last task of every key when executePendingTasks returns on the main thread`() async {
        let queue = LastOutQueue(clock: clock)
        queue.enqueue(forKey: "a") { [seen] in seen.add("a1") }
        queue.enqueue(forKey: "b") { [seen] in seen.add("b") }
        queue.enqueue(forKey: "a") { [seen] in seen.add("a2") }
        queue.executePendingTasks()
        #expect(seen.all == ["a2", "b"])
        await clock.advance(by: .seconds(10))
        #expect(seen.all == ["a2", "b"])
    }

    @Test
    func `also runs what was due and had not been reached`() async {
        let queue = LastOutQueue(delay: 0.001)
        queue.enqueue(forKey: "a") { [seen] in seen.add("a") }
        // This test occupies the main thread: what the timer has sent there meanwhile has not run.
        let due = DispatchTime.now() + 0.05
        while DispatchTime.now() < due {}
        #expect(seen.all == [])
        queue.executePendingTasks()
        #expect(seen.all == ["a"])
        await Task.yield()
        queue.executePendingTasks()
        #expect(seen.all == ["a"])
    }

    @Test
    func `accepts what a task enqueues under its own key, from the timer and from executePendingTasks`() async {
        let queue = LastOutQueue(delay: 1, clock: clock)
        @MainActor func count(_ number: Int) {
            seen.add("\(number)")
            if number < 4 { queue.enqueue(forKey: "n") { count(number + 1) } }
        }
        queue.enqueue(forKey: "n") { count(1) }
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["1"])
        queue.executePendingTasks()
        #expect(seen.all == ["1", "2"])
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["1", "2", "3"])
        queue.executePendingTasks()
        #expect(seen.all == ["1", "2", "3", "4"])
    }

    @Test
    func `may execute its pending tasks from inside a task`() async {
        let queue = LastOutQueue(delay: 1, clock: clock)
        queue.enqueue(forKey: "a") { [seen] in
            queue.enqueue(forKey: "a") { seen.add("a again") }
            queue.enqueue(forKey: "b") { seen.add("b") }
            queue.executePendingTasks()
            seen.add("a")
        }
        queue.executePendingTasks()
        #expect(seen.all == ["b", "a", "a again"])
    }

    @Test
    func `drops what waits on request`() async {
        let queue = LastOutQueue(delay: 1, clock: clock)
        queue.enqueue(forKey: "a") { [seen] in seen.add("a") }
        queue.cancelPendingTasks()
        await clock.advance(by: .seconds(5))
        #expect(seen.all == [])
    }

    @Test
    func `runs on a queue that is given, and has run there when it was asked there`() async {
        let work = DispatchQueue(label: "work")
        let queue = LastOutQueue.OnQueue(work, delay: 1, clock: clock)
        queue.enqueue(forKey: "a", onStart: { [seen] in seen.add("start") }) { [seen] in
            dispatchPrecondition(condition: .onQueue(work))
            seen.add("a")
        }
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["start", "a"])
        queue.enqueue(forKey: "b") { [seen] in seen.add("b") }
        let there = work.sync { () -> [String] in
            queue.executePendingTasks()
            return seen.all
        }
        #expect(there == ["start", "a", "b"])
    }

    @Test
    func `is shared by the program, on the real clock`() async {
        await withCheckedContinuation { continuation in
            LastOutQueue.default.enqueue(forKey: "shared") { continuation.resume() }
            LastOutQueue.default.executePendingTasks()
        }
    }

    @Test
    func `has a one-line form that returns a debounced closure`() async {
        let search = debounced(for: 0.3, clock: clock) { [seen] (text: String) in seen.add(text) }
        let save = debounced(for: 0.3, on: DispatchQueue(label: "save"), clock: clock) { [seen] in seen.add("saved") }
        search("a")
        search("ab")
        save()
        save()
        await clock.advance(by: .milliseconds(300))
        #expect(Set(seen.all) == ["ab", "saved"])
        #expect(seen.all.count == 2)
    }

    @Test
    func `still runs what is pending when the debounced closure was released`() async {
        debounced(for: 0.3, clock: clock) { [seen] in seen.add("ran") }()
        await clock.advance(by: .milliseconds(300))
        #expect(seen.all == ["ran"])
    }
}
