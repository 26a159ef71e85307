import LullCore
import Testing

// The code of the landing page of LullCore.

@Suite("The sample of LullCore")
struct CoreSamples {
    @Test
    func `an engine that is driven by hand`() throws {
        var lines: [String] = []
        func print(_ line: String) { lines.append(line) }

        func perform(_ actions: Actions<String, Int>, _ engine: inout Engine<String, Int>) {
            for case .start(let execution) in actions.more {
                print("\(execution.key) is set to \(execution.batch.value) at \(execution.at.nanoseconds) ns")
                let (_, further) = engine.ended(execution.run, .returned)
                perform(further, &engine)
            }
        }

        var engine = Engine<String, Int>(try Setup(.debounce(wait: .milliseconds(300), maxWait: .seconds(2))))
        perform(engine.submit(7, for: "lamp", at: CoreInstant(nanoseconds: 0)), &engine)
        perform(engine.submit(8, for: "lamp", at: CoreInstant(nanoseconds: 100_000_000)), &engine)

        while engine.alarm != .farFuture {
            perform(engine.advance(to: engine.alarm), &engine)
        }
        #expect(lines == ["lamp is set to 8 at 400000000 ns"])
    }
}
