import Testing

@testable import LullCore

@Suite("Instants and durations")
struct TimeTests {
    @Test
    func `adding saturates at both ends`() {
        let late = CoreInstant(nanoseconds: .max - 5)
        #expect(late.advanced(by: 5) == .farFuture)
        #expect(late.advanced(by: 6) == .farFuture)
        #expect(late.advanced(by: .infinite) == .farFuture)
        #expect(CoreInstant.farPast.advanced(by: -1) == .farPast)
        #expect(CoreInstant.farFuture.advanced(by: -1) == CoreInstant(nanoseconds: .max - 1))
    }

    @Test(arguments: [Int64.min, -7, 0, 7, .max])
    func `an infinite duration ends in the far future, whatever the origin`(start: Int64) {
        #expect(CoreInstant(nanoseconds: start).advanced(by: .infinite) == .farFuture)
    }

    @Test
    func `the duration between two instants saturates`() {
        #expect(CoreInstant(3).duration(to: CoreInstant(10)) == 7)
        #expect(CoreInstant(10).duration(to: CoreInstant(3)) == -7)
        #expect(CoreInstant.farPast.duration(to: .farFuture) == .infinite)
        #expect(CoreInstant.farFuture.duration(to: .farPast) == CoreDuration(nanoseconds: .min))
        #expect(CoreInstant.origin.duration(to: .farFuture) == .infinite)
    }

    @Test
    func `units saturate`() {
        #expect(CoreDuration.seconds(2) == 2_000_000_000)
        #expect(CoreDuration.milliseconds(-3) == -3_000_000)
        #expect(CoreDuration.seconds(.max) == .infinite)
        #expect(CoreDuration.milliseconds(.min) == CoreDuration(nanoseconds: .min))
    }

    @Test(arguments: [
        (CoreDuration.zero, "0s"), (.seconds(90), "90s"), (.milliseconds(1500), "1500ms"), (250_000, "250us"),
        (7, "7ns"), (-1_000_000, "-1ms"), (.infinite, "forever"),
    ])
    func `a duration is written in the largest unit that needs no fraction`(duration: CoreDuration, text: String) {
        #expect(duration.description == text)
    }

    @Test
    func `instants and durations are ordered`() {
        #expect(CoreInstant.farPast < .origin && CoreInstant.origin < .farFuture)
        #expect(CoreDuration.zero < .infinite && CoreDuration(nanoseconds: -1) < .zero)
    }
}
