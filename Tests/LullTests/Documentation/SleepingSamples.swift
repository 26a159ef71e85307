import Lull
import LullTesting
import Testing

// The code of the article "Testing code that sleeps".

@Suite("The samples of Testing code that sleeps")
@MainActor
struct SleepingSamples {
    let clock = ManualClock()

    @Test
    func `a function that sleeps`() async throws {
        let server = Server(answers: 4)
        let connecting = clock.task { try await connect(to: server, clock: clock) }
        await clock.advance(by: .seconds(3))
        #expect(await server.tries == 3)
        await clock.advance(by: .seconds(4))
        #expect(try await connecting.value == 4)
    }

    @Test
    func `a function that sleeps, and gives up`() async throws {
        let server = Server(answers: 5)
        let connecting = clock.task { try await connect(to: server, clock: clock) }
        await clock.advance(by: .seconds(60))
        await #expect(throws: Refusal.self) { try await connecting.value }
        #expect(await server.tries == 4)
    }

    @MainActor
    final class Poller {
        private(set) var count = 0
        private let clock: any Clock<Duration>
        private var polling: Task<Void, any Error>?

        init(clock: any Clock<Duration> = ContinuousClock()) {
            self.clock = clock
        }

        func start() {
            polling = Task {
                while true {
                    try await clock.sleep(for: .seconds(5))
                    count += 1
                }
            }
        }

        func stop() {
            polling?.cancel()
        }
    }

    @Test
    func `a task that sleeps`() async {
        let poller = Poller(clock: clock)
        poller.start()
        await clock.waitForSleeps()
        for count in 1...3 {
            await clock.advance(by: .seconds(5))
            await clock.waitForSleeps()
            #expect(poller.count == count)
        }

        poller.stop()
        #expect(clock.sleepCount == 0)
    }
}

/// A server that answers at one of the tries.
actor LateServer {
    private(set) var tries = 0
    private let answers: Int

    init(answers: Int) { self.answers = answers }

    func connect() throws -> Int {
        tries += 1
        if tries < answers { throw Refusal() }
        return tries
    }
}

private typealias Server = LateServer

private nonisolated func connect(to server: Server, clock: any Clock<Duration>) async throws -> Int {
    var pause = Duration.seconds(1)
    while true {
        do {
            return try await server.connect()
        } catch {
            guard pause < .seconds(5) else { throw error }
            try await clock.sleep(for: pause)
            pause = pause * 2
        }
    }
}
