import Dispatch
import Foundation
import Lull
import LullTesting
import TestSupport
import Testing

/// Returns when the process is asked to end. Call it once.
func untilTermination() async {
    signal(SIGTERM, SIG_IGN)  // the source below gets it
    let source = DispatchSource.makeSignalSource(signal: SIGTERM)
    let requests = AsyncStream<Void> { continuation in
        source.setEventHandler { @Sendable in continuation.yield() }
        source.activate()
    }
    for await _ in requests { return }
}

@Suite("Saving before the end")
struct SavingBeforeTheEndTests {
    let clock = ManualClock()
    let disk = Disk()

    actor Disk {
        private(set) var text = ""

        func write(_ text: String) async throws { self.text = text }
    }

    final class Journal: Sendable {
        private let save: Debouncer<String, Void>

        init(disk: Disk, clock: any Clock<Duration> = ContinuousClock()) {
            save = Debouncer(for: .seconds(2), maxWait: .seconds(10), clock: clock) { (text: String) in
                try await disk.write(text)
            }
        }

        func changed(_ text: String) {
            save(text)
        }

        /// Saves what is pending. It has been saved when the call returns.
        func leave() async {
            await save.flushAndWait()
        }

        /// The same, for good: what comes later is rejected.
        func close() async {
            await save.shutDownAndWait()
        }
    }

    @Test
    func `what is pending has been saved when the call returns, and nothing is taken after the end`() async {
        let journal = Journal(disk: disk, clock: clock)
        journal.changed("Dear diary")
        await journal.leave()
        #expect(await disk.text == "Dear diary")  // without a second on the clock
        journal.changed("Dear diary, today")
        await journal.close()
        journal.changed("Dear diary, today I")
        #expect(await disk.text == "Dear diary, today")
    }

    /// In a process of its own, which asks itself to end, again and again, and ignores that until somebody waits for
    /// it. A signal may arrive well after it was sent: it would end the process of the tests that run by then.
    @Test
    func `a program waits for the request to end, and saves what is left`() async {
        await #expect(processExitsWith: .success) { @MainActor in
            signal(SIGTERM, SIG_IGN)
            let asking = Task {
                try await waitUntil {
                    kill(getpid(), SIGTERM)
                    return false
                }
            }
            let (disk, server) = (Disk(), Server())
            // main.swift
            let journal = Journal(disk: disk)
            let serving = Task { try await server.run(journal) }
            await untilTermination()
            serving.cancel()  // take no more requests
            _ = await serving.result
            await journal.close()  // then save what they have left
            asking.cancel()
            _ = await asking.result
            #expect(await disk.text == "the last request")
        }
    }

    final class Server: Sendable {
        func run(_ journal: Journal) async throws {
            journal.changed("the last request")
            try await ManualClock().sleep(for: .seconds(100))
        }
    }
}
