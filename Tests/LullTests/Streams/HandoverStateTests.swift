import Testing

@testable import Lull

@Suite("The state of a handover")
struct HandoverStateTests {
    typealias State = HandoverState<Int, Never>

    // Exit tests do not exist on the simulators of devices.
    #if os(macOS) || os(Linux)
        @Test
        func `traps when an execution delivers before the one before it has ended`() async {
            await #expect(processExitsWith: .failure) {
                await withUnsafeContinuation { (execution: State.Execution) in
                    var state = State.idle
                    _ = state.deliver(1, execution)
                    _ = state.deliver(2, execution)
                }
            }
        }

        @Test
        func `traps when the end comes twice`() async {
            await #expect(processExitsWith: .failure) {
                var state = State.idle
                _ = state.end(.success(nil))
                _ = state.end(.success(nil))
            }
        }
    #endif
}
