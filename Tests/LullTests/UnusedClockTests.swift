import Lull
import LullTesting
import TestSupport
import Testing

@Suite("An unused clock")
struct UnusedClockTests {
    private let issues = Record<Issue>()

    @Test
    func `fails the test at its own line when a task sleeps on it, and lets the task go on`() async throws {
        let clock = UnusedClock()
        let line = #line - 1
        try await withKnownIssue {
            try await clock.sleep(for: .seconds(5))
        } matching: { [issues] issue in
            issues.add(issue)
            return true
        }
        let issue = try #require(issues.all.first)
        #expect(issue.sourceLocation?.line == line)
        #expect(issue.sourceLocation?.fileID == "LullTests/UnusedClockTests.swift")
        #expect(
            "\(issue.comments)".contains("UnusedClock: a task sleeps on it for 5.0 seconds, which should not happen"))
        #expect(issues.all.count == 1)
        #expect(clock.now.sinceStart == .seconds(5))
    }

    @Test
    func `fails the test at each submit that has to wait, with the debouncer's line`() async throws {
        let clock = UnusedClock()
        let save = Debouncer(for: .seconds(2), clock: clock) { (value: Int) in value }
        let line = #line - 1
        try await withKnownIssue {
            for value in 1...2 {
                guard case .executed(value) = try await save.outcome(of: value) else { return }
            }
        } matching: { [issues] issue in
            issues.add(issue)
            return true
        }
        #expect(issues.all.count == 2)
        #expect(
            "\(issues.all)".contains(
                "what is made at LullTests/UnusedClockTests.swift:\(line) waits on it for 2.0 seconds"))
    }

    @Test
    func `lets debouncers be made, asked, flushed and shut down, which is no use`() async {
        let clock = UnusedClock()
        let save = Debouncer(for: .seconds(2), clock: clock) { (_: Int) in }
        #expect(save.state.isDone)
        save.flush()
        save.cancel()
        await save.flushAndWait()
        await save.shutDownAndWait()
        #expect(clock.now == .zero)
    }

    // Exit tests do not exist on the simulators of devices.
    #if os(macOS) || os(Linux)
        @Test
        func `stops the program without Swift Testing`() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                // No test is current in a detached task.
                let clock = await Task.detached { UnusedClock() }.value
                try await clock.sleep(for: .seconds(5))
            }
            let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(text.contains("Lull: UnusedClock: a task sleeps on it for 5.0 seconds, which should not happen"))
        }
    #endif
}
