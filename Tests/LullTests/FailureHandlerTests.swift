import Lull
import LullTesting
import Testing

/// A failure handler runs where it was written, as the handler and completions do.
@Suite("A failure handler")
@MainActor
struct FailureHandlerTests {
    @MainActor
    final class Screen {
        var messages: [String] = []

        func debouncer(on clock: ManualClock) -> Debouncer<Int, Void> {
            Debouncer(
                for: .seconds(1), clock: clock, onFailure: { [weak self] error in self?.messages.append("\(error)") }
            ) {
                (_: Int) in throw Refusal()
            }
        }

        func levels(on clock: ManualClock) -> KeyedThrottler<String, Int, Void> {
            KeyedThrottler(
                every: .seconds(1), clock: clock,
                onFailure: { [weak self] error, key in
                    MainActor.assertIsolated()
                    self?.messages.append("\(key): \(error)")
                }
            ) { @Sendable (_: String, _: Int) in throw Refusal() }
        }
    }

    @Test
    func `runs on the actor of its closure, wherever the handler runs`() async {
        let clock = ManualClock()
        let screen = Screen()
        let save = screen.debouncer(on: clock)
        save(1, after: .seconds(2))
        await clock.advance(by: .seconds(1))
        #expect(screen.messages.isEmpty)
        await clock.advance(by: .seconds(1))
        let levels = screen.levels(on: clock)
        levels.submit(1, for: "lamp")
        await clock.advance(by: .zero)
        #expect(screen.messages == ["\(Refusal())", "lamp: \(Refusal())"])
    }
}
