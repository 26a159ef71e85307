import TestSupport
import Dispatch
import LullDispatch
import LullTesting
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

@Suite("A debouncer for work in the background")
@MainActor
struct BackgroundDebouncerTests {
    let clock = ManualClock()
    let seen = Record<String>()

    @Test
    func `runs the newest handler once, when the interval has passed without an event, and drops it`() async {
        let sync = BackgroundDebouncer(timeInterval: 2, clock: clock)
        for change in 1...100 {
            sync.handler = { [seen] in seen.add("sync \(change)") }
            await clock.advance(by: .milliseconds(10))
        }
        #expect(sync.handler != nil)
        await clock.advance(by: .seconds(2))
        #expect(seen.all == ["sync 100"])
        #expect(sync.handler == nil)
        sync.renewInterval()
        await clock.advance(by: .seconds(5))
        #expect(seen.all == ["sync 100"])
    }

    @Test
    func `renews the interval with the handler as it is`() async {
        let sync = BackgroundDebouncer(timeInterval: 2, clock: clock)
        sync.handler = { [seen] in seen.add("sync") }
        await clock.advance(by: .seconds(1))
        sync.renewInterval()
        await clock.advance(by: .seconds(1))
        #expect(seen.all == [])
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["sync"])
    }

    @Test
    func `drops what is pending when the handler is set to nil`() async {
        let sync = BackgroundDebouncer(timeInterval: 2, clock: clock)
        sync.handler = { [seen] in seen.add("sync") }
        sync.handler = nil
        await clock.advance(by: .seconds(5))
        #expect(seen.all == [])
    }

    @Test
    func `accepts a new handler from inside the handler`() async {
        let sync = BackgroundDebouncer(timeInterval: 2, clock: clock)
        sync.handler = { [seen] in
            seen.add("first")
            sync.handler = { seen.add("second") }
        }
        await clock.advance(by: .seconds(2))
        #expect(sync.handler != nil)
        await clock.advance(by: .seconds(2))
        #expect(seen.all == ["first", "second"])
    }

    @Test
    func `has run its handler when a flush returns on the main thread`() async {
        let sync = BackgroundDebouncer(timeInterval: 2, clock: clock)
        sync.handler = { [seen] in seen.add("sync") }
        sync.flush()
        #expect(seen.all == ["sync"])
        #expect(sync.handler == nil)
        await clock.advance(by: .seconds(5))
        #expect(seen.all == ["sync"])
    }

    @Test
    func `makes a handler that is set when the old one is due wait for the end of its interval`() async throws {
        let sync = BackgroundDebouncer(timeInterval: 0.001)
        sync.handler = { [seen] in seen.add("old") }
        let due = DispatchTime.now() + 0.05
        while DispatchTime.now() < due {}
        // The old one is due, but this test occupies the main thread.
        sync.handler = { [seen] in seen.add("new") }
        try await waitUntil { !seen.all.isEmpty }
        #expect(seen.all == ["new"])
    }

    @Test
    func `runs on the queue that it was given`() async {
        let work = DispatchQueue(label: "work")
        let sync = BackgroundDebouncer.OnQueue(work, timeInterval: 2, clock: clock)
        sync.handler = { [seen] in
            dispatchPrecondition(condition: .onQueue(work))
            seen.add("sync")
        }
        await clock.advance(by: .seconds(2))
        #expect(seen.all == ["sync"])
    }

    @Test
    func `keeps kinds of events apart, one sync each`() async {
        let steps = BackgroundDebouncer(timeInterval: 2, clock: clock)
        let sleep = BackgroundDebouncer(timeInterval: 2, clock: clock)
        for _ in 0..<100 { steps.handler = { [seen] in seen.add("steps") } }
        for _ in 0..<3 { sleep.handler = { [seen] in seen.add("sleep") } }
        await clock.advance(by: .seconds(2))
        #expect(Set(seen.all) == ["steps", "sleep"])
        #expect(seen.all.count == 2)
    }

    // Exit tests do not exist on the simulators of devices.
    #if os(macOS) || os(Linux)
        @Test
        func `a delay that breaks a rule stops the program with the line of the caller`() async {
            let background = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = BackgroundDebouncer(timeInterval: -1, line: 4711)
            }
            let last = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = LastOutQueue(delay: .infinity, line: 4712)
            }
            let closure = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = debounced(for: -1, line: 4713) {}
            }
            for (line, result) in [4711: background, 4712: last, 4713: closure] {
                let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
                #expect(message.contains("BackgroundDebouncerTests.swift:\(line): "), "\(message)")
                #expect(message.contains("but must be finite and zero or more"), "\(message)")
            }
        }

        // This test uses real time and a real process: it checks what happens, not how many milliseconds it takes.
        @Test
        func `runs once, at once, when a process that was stopped across the deadline goes on`() async {
            await #expect(processExitsWith: .success) { @MainActor in
                let seen = Record<String>()
                let sync = BackgroundDebouncer(timeInterval: 0.3)
                sync.handler = { seen.add("sync") }
                guard stopForASecond() else { exit(2) }
                // It is due already, and runs as soon as this test leaves the main thread.
                try await waitUntil { !seen.all.isEmpty }
                // Something else, as long afterwards.
                let later = BackgroundDebouncer(timeInterval: 0.3)
                later.handler = { seen.add("later") }
                try await waitUntil { seen.all.contains("later") }
                guard seen.all == ["sync", "later"], sync.handler == nil else { exit(3) }
            }
        }
    #endif
}
