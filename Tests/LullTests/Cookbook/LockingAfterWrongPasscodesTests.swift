import TestSupport
import Lull
import LullTesting
import Testing

@Suite("Locking after wrong passcodes")
@MainActor
struct LockingAfterWrongPasscodesTests {
    let clock = ManualClock()

    @MainActor
    final class PasscodeLock {
        private(set) var isLocked = false
        private var wrongOnes = 0
        private let passcode: String
        private let recent: Debouncer<Void, Void>

        init(passcode: String, clock: any Clock<Duration> = ContinuousClock()) {
            self.passcode = passcode
            recent = Debouncer(for: .seconds(60), clock: clock) {}
        }

        func opens(with attempt: String) -> Bool {
            guard !isLocked else { return false }
            guard attempt == passcode else {
                wrongOnes = recent.state.pending > 0 ? wrongOnes + 1 : 1
                isLocked = wrongOnes == 3
                recent()
                return false
            }
            recent.cancel()
            return true
        }
    }

    @Test
    func `three wrong passcodes within a minute of each other lock the door`() async {
        let door = PasscodeLock(passcode: "1234", clock: clock)
        for attempt in ["1111", "2222", "3333"] {
            await clock.advance(by: .seconds(59))
            #expect(!door.opens(with: attempt))
        }
        #expect(door.isLocked)
        #expect(!door.opens(with: "1234"))
        await clock.advance(by: .seconds(3600))
        #expect(door.isLocked)
    }

    @Test
    func `a minute without a wrong passcode resets the count, to the second`() async {
        let door = PasscodeLock(passcode: "1234", clock: clock)
        _ = door.opens(with: "1111")
        _ = door.opens(with: "2222")
        await clock.advance(by: .seconds(60))
        for _ in 1...2 {
            _ = door.opens(with: "3333")
            #expect(!door.isLocked)
        }
        _ = door.opens(with: "3333")
        #expect(door.isLocked)
    }

    @Test
    func `the right passcode resets the count`() {
        let door = PasscodeLock(passcode: "1234", clock: clock)
        for _ in 1...10 {
            _ = door.opens(with: "1111")
            _ = door.opens(with: "2222")
            #expect(door.opens(with: "1234"))
        }
        #expect(!door.isLocked)
    }

    @Test
    func `the door is locked before the call that locks it returns`() {
        let door = PasscodeLock(passcode: "1234", clock: clock)
        let answers = (0..<10_000).map { door.opens(with: "\($0)") }
        #expect(!answers.contains(true))
    }

    @Test
    func `where the count may come a moment later, the debouncer can count`() async {
        let alarms = Record<Int>()
        let wrong = Debouncer(
            for: .seconds(60), maxCount: 3, combining: .merge { $0 += $1 }, clock: clock
        ) { (sum: Int) in
            if sum == 3 { alarms.add(sum) }
        }
        for _ in 1...2 { wrong(1) }
        await clock.advance(by: .seconds(60))
        for _ in 1...3 { wrong(1) }
        await clock.advance(by: .zero)
        #expect(alarms.all == [3])
    }
}
