import Lull
import LullTesting
import Testing

@Suite("Answering those who never pause")
struct AnsweringWhoNeverPausesTests {
    let clock = ManualClock()

    /// Takes five seconds for a build, and remembers when one was finished.
    actor Compiler {
        private(set) var begun = 0
        private(set) var finished: [Int] = []
        private(set) var built: Set<String> = []
        private let clock: ManualClock

        init(clock: ManualClock) { self.clock = clock }

        func build(_ files: Set<String>) async throws {
            begun += 1
            try await clock.sleep(for: .seconds(5))
            built.formUnion(files)
            finished.append(Int(ManualClock.Instant.zero.duration(to: clock.now).components.seconds))
        }
    }

    final class Builder: Sendable {
        private let build: Debouncer<String, Void>

        init(compiler: Compiler, clock: any Clock<Duration> = ContinuousClock()) {
            build = Debouncer(
                collectingFor: .seconds(1), maxWait: .seconds(20), whileRunning: .restart, clock: clock
            ) { (files: [String]) in
                try await compiler.build(Set(files))
            }
        }

        func saved(_ file: String) {
            build(file)
        }
    }

    @Test
    func `a build whose oldest file has waited for the longest wait is finished`() async {
        let compiler = Compiler(clock: clock)
        let builder = Builder(compiler: compiler, clock: clock)
        for save in 0..<20 {
            builder.saved("file \(save)")
            await clock.advance(by: .seconds(2))
        }
        #expect(await compiler.finished == [24])  // the build that started at 19
        #expect(await compiler.begun > 10)
        await clock.advance(by: .seconds(30))
        #expect(await compiler.built.count == 20)
    }

    @Test
    func `without a longest wait, no build is finished before the saves pause`() async {
        let compiler = Compiler(clock: clock)
        let build = Debouncer(collectingFor: .seconds(1), whileRunning: .restart, clock: clock) { (files: [String]) in
            try await compiler.build(Set(files))
        }
        for save in 0..<200 {
            build("file \(save)")
            await clock.advance(by: .seconds(2))
        }
        #expect(await compiler.finished == [])
        await clock.advance(by: .seconds(6))
        #expect(await compiler.built.count == 200)
    }
}
