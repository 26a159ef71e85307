import Dispatch
import Lull
import LullDispatch
import LullTesting
import Testing

/// Semantics, section 6: a failure is never silent. What is written to standard error is read from a process of its
/// own.
@Suite("An execution that fails, without a failure handler,")
struct FailureTests {
    // Exit tests do not exist on the simulators of devices.
    #if os(macOS) || os(Linux)
        private func lines(_ result: ExitTest.Result?) -> [Substring] {
            String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
                .split(separator: "\n").filter { $0.hasPrefix("Lull") }
        }
    #endif

    private static func two(on clock: ManualClock) -> (KeyedDebouncer<String, Int, Void>, Throttler<Int, Void>) {
        let queue = DispatchQueue(label: "q")
        #sourceLocation(file:"App/Search.swift",line:41)
        let levels = KeyedDebouncer(for: .seconds(1), clock: clock) { (_: String, _: Int) in throw Refusal() }
        let save = Throttler(every: .seconds(1), on: queue, clock: clock) { (_: Int) in throw Refusal() }
        #sourceLocation()
        return (levels, save)
    }

    #if os(macOS) || os(Linux)
        @Test
        func `leaves a line that says which key, and where the debouncer was made`() async {
            let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                let clock = ManualClock()
                let (levels, save) = Self.two(on: clock)
                levels.submit(1, for: "lamp")
                await clock.advance(by: .seconds(1))
                save(1)
                await clock.advance(by: .seconds(1))
            }
            let lines = lines(result)
            #expect(lines.count == 2)
            #expect(
                lines.first == """
                    Lull: an execution failed (key lamp, debouncer made at LullTests/Search.swift:41): Refusal(reason: \
                    "no")
                    """)
            #expect(
                lines.last == """
                    Lull: an execution failed (the only key, of values of type Int, throttler made at \
                    LullTests/Search.swift:42): Refusal(reason: "no")
                    """)
        }

        @Test
        func `logs none that an awaiting caller or a completion receives`() async {
            let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                let clock = ManualClock()
                let save = Debouncer(collectingFor: .seconds(1), clock: clock) { (_: [Int]) in throw Refusal() }
                save(1)
                save.submit(2) { _ in }
                save(3)
                await clock.advance(by: .seconds(1))
                save(4)
                let outcome = clock.task { try await save.outcome(of: 5) }
                await clock.advance(by: .zero, until: .started)
                await clock.advance(by: .seconds(1))
                guard case .failed(_ as Refusal) = try await outcome.value else { throw Refusal() }
                let onQueue = Debouncer(for: .seconds(1), on: DispatchQueue(label: "q"), clock: clock) { (_: Int) in
                    throw Refusal()
                }
                onQueue.submit(6) { _ in }
                await clock.advance(by: .seconds(1))
            }
            #expect(lines(result) == [])
        }

        @Test
        func `logs one if the only awaiting task was cancelled, or if callers await other submits only`() async {
            let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                let clock = ManualClock()
                let save = Debouncer(for: .seconds(1), clock: clock) { (_: Int) in throw Refusal() }
                save.submit(1) { _ in }
                let outcome = clock.task { try await save.outcome(of: 2) }
                await clock.advance(by: .zero, until: .started)
                outcome.cancel()
                _ = await outcome.result
                await clock.advance(by: .seconds(1))
            }
            #expect(lines(result).count == 1)
        }
    #endif

    @Test
    func `is not lost on a task that is cancelled right when the outcome has come`() async throws {
        let gone = Debouncer(for: .seconds(1)) { (_: Int) in }
        gone.shutDown()
        // The outcome is there before a caller waits for it, so none is kept waiting, cancelled or not.
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await gone.outcome(of: 1)
        }
        guard case .rejected(.shutDown) = try await task.value else {
            Issue.record("the outcome is lost")
            return
        }
    }
}
