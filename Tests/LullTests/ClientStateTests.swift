import LullCore
import Testing

@testable import Lull

@Suite("The state of a scheduler's client")
struct ClientStateTests {
    static let instant = CoreInstant(nanoseconds: 5)

    @Test
    func `returns to waiting when the block begins in time`() {
        var state = ClientState.waiting
        #expect(!state.isSent)
        state.send(overdueAt: Self.instant)
        #expect(state == .sent(overdueAt: Self.instant))
        #expect(state.isSent)
        state.begin()
        #expect(state == .waiting)
    }

    @Test
    func `gives a late block more time after each bookkeeping`() {
        var state = ClientState.waiting
        state.send(overdueAt: .farPast)
        state.expire()
        #expect(state == .overdue)
        #expect(state.isSent)
        state.endBookkeeping(overdueAt: Self.instant)
        #expect(state == .sent(overdueAt: Self.instant))
    }

    @Test(arguments: [true, false])
    func `waits for bookkeeping that is on its way when the late block has begun`(sendsAgain: Bool) {
        var state = ClientState.overdue
        state.begin()
        #expect(state == .begun)
        #expect(!state.isSent)
        if sendsAgain {
            state.send(overdueAt: .farPast)
            #expect(state == .overdue)
        } else {
            state.endBookkeeping(overdueAt: Self.instant)
            #expect(state == .waiting)
        }
    }

    // Exit tests do not exist on the simulators of devices.
    #if os(macOS) || os(Linux)
        @Test
        func `traps on a second block, and on the beginning of one that was not sent`() async {
            await #expect(processExitsWith: .failure) {
                var state = ClientState.sent(overdueAt: .farFuture)
                state.send(overdueAt: .farFuture)
            }
            await #expect(processExitsWith: .failure) {
                var state = ClientState.waiting
                state.begin()
            }
        }
    #endif
}
