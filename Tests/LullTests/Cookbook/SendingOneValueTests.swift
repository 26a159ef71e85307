import Lull
import LullTesting
import Testing

@Suite("Sending one value of many")
@MainActor
struct SendingOneValueTests {
    let clock = ManualClock()
    let speaker = Speaker()

    actor Speaker {
        private(set) var volumes: [Int] = []
        func set(_ volume: Int) throws { volumes.append(volume) }
    }

    @MainActor
    final class VolumeControl {
        private(set) var volume = 0
        private let send: Debouncer<Int, Void>

        init(speaker: Speaker, clock: any Clock<Duration> = ContinuousClock()) {
            send = Debouncer(for: .seconds(2), clock: clock) { volume in
                try await speaker.set(volume)
            }
        }

        func step(by amount: Int) {
            volume += amount
            send(volume)
        }
    }

    @Test
    func `a stepper that counts to ten sends ten`() async {
        let control = VolumeControl(speaker: speaker, clock: clock)
        for _ in 1...10 {
            control.step(by: 1)
            await clock.advance(by: .milliseconds(300))
        }
        await clock.advance(by: .seconds(2))
        #expect(await speaker.volumes == [10])
    }

    @Test
    func `it shows every step at once, and sends nothing before two seconds without one`() async {
        let control = VolumeControl(speaker: speaker, clock: clock)
        control.step(by: 1)
        #expect(control.volume == 1)
        await clock.advance(by: .milliseconds(1999))
        #expect(await speaker.volumes == [])
        await clock.advance(by: .milliseconds(1))
        #expect(await speaker.volumes == [1])
    }

    @Test
    func `after a pause it sends again`() async {
        let control = VolumeControl(speaker: speaker, clock: clock)
        for _ in 1...2 {
            for _ in 1...5 { control.step(by: 1) }
            await clock.advance(by: .seconds(2))
        }
        #expect(await speaker.volumes == [5, 10])
    }

    @Test
    func `the last value is sent although the control has been released`() async {
        do {
            let control = VolumeControl(speaker: speaker, clock: clock)
            control.step(by: 3)
        }
        await clock.advance(by: .seconds(2))
        #expect(await speaker.volumes == [3])
    }

    @Test
    func `with maxWait the speaker follows while the knob is turned`() async {
        let send = Debouncer(for: .seconds(2), maxWait: .seconds(5), clock: clock) { [speaker] volume in
            try await speaker.set(volume)
        }
        for volume in 1...10 {
            send(volume)
            await clock.advance(by: .seconds(1))
        }
        await clock.advance(by: .seconds(2))
        #expect(await speaker.volumes == [5, 10])
    }
}
