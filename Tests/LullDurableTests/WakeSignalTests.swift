import LullCore
import LullDurable
import Testing

/// The workers that are woken when there is something to claim earlier than announced.
@Suite("The wake signal")
struct WakeSignalTests {
    private func at(_ seconds: Int64) -> CoreInstant { CoreInstant.origin.advanced(by: .seconds(seconds)) }

    /// Returns whether a worker that waits after a mark would have to wait.
    private func waits(
        _ signal: WakeSignal, for subject: WakeSignal.Subject = .work, after mark: Int64
    ) async -> Bool {
        var waits = false
        await withCheckedContinuation { waiter in
            var signal = signal
            waits = signal.add(waiter, id: 1, for: subject, in: "n", after: mark)
            waiter.resume()
        }
        return waits
    }

    @Test
    func `is given for what is earlier than announced, and for nothing else`() async {
        var signal = WakeSignal()
        let mark = signal.announce(at(5), in: "n")
        signal.signal(at(5), in: "n")
        signal.signal(at(1), in: "other")
        #expect(await waits(signal, after: mark))
        signal.signal(at(4), in: "n")
        #expect(await !waits(signal, after: mark))
    }

    @Test
    func `wakes a worker when something earlier is announced to another one: a lease that ends`() async {
        var signal = WakeSignal()
        let idle = signal.announce(nil, in: "n")
        let busy = signal.announce(at(30), in: "n")
        #expect(await !waits(signal, after: idle))
        #expect(await waits(signal, after: busy))
        let later = signal.announce(at(60), in: "n")
        #expect(await waits(signal, after: busy))
        #expect(later == busy)
    }

    @Test
    func `in a pause is not given for what is due, but for its end and for hints, which may say more`() async {
        var signal = WakeSignal()
        let paused = signal.announce(nil, in: "n", isPaused: true)
        signal.signal(at(1), in: "n")
        #expect(await waits(signal, after: paused))
        signal.signalResumption(in: "other")
        #expect(await waits(signal, after: paused))
        signal.signalResumption(in: "n")
        #expect(await !waits(signal, after: paused))
        // Nobody knows of a pause now: another end of one is nothing new.
        let working = signal.announce(at(5), in: "n")
        signal.signalResumption(in: "n")
        #expect(await waits(signal, after: working))
        let again = signal.announce(nil, in: "n", isPaused: true)
        signal.signalAll(in: "n")
        #expect(await !waits(signal, after: again))
    }

    @Test
    func `of an interruption is for those that look for one, and only theirs`() async {
        var signal = WakeSignal()
        let idle = signal.announce(at(5), in: "n")
        let looking = signal.announceLook(in: "n")
        signal.signal(at(1), in: "n")
        signal.signalInterruption(in: "other")
        #expect(await !waits(signal, after: idle))
        #expect(await waits(signal, for: .interruptions, after: looking))
        signal.signalInterruption(in: "n")
        #expect(await !waits(signal, for: .interruptions, after: looking))
        // Another one before anybody has looked again changes nothing; one after that does.
        signal.signalInterruption(in: "n")
        let again = signal.announceLook(in: "n")
        #expect(await waits(signal, for: .interruptions, after: again))
        signal.signalAll()
        #expect(await !waits(signal, for: .interruptions, after: again))
    }

    @Test
    func `makes all look again, once, when it is given to all`() async {
        var signal = WakeSignal()
        let mark = signal.announce(at(5), in: "n")
        signal.signalAll()
        #expect(await !waits(signal, after: mark))
        #expect(await waits(signal, after: mark + 1))
    }
}
