import LullReference
import Testing

@testable import LullCore

/// Section 8 of the semantics: `maxBatch` limits what one execution gets.
@Suite("Batches in parts")
struct MaxBatchTests {
    private func rig(
        _ maxBatch: Int, _ whileRunning: OverlapPolicy = .queue, maxConcurrent: Int? = nil
    ) throws -> Rig {
        try Rig(
            .debounce(10), combination: .collect, whileRunning: whileRunning, maxConcurrent: maxConcurrent,
            maxBatch: maxBatch, handlersTakeTime: true)
    }

    private func submit(_ values: Range<Int>, _ rig: Rig, _ key: String = "k", at instant: Int = 0) {
        for value in values { rig.submit("\(value)", key, at: instant) }
    }

    @Test
    func `a start takes the first values, and the rest waits with the same edge, instant and first`() throws {
        let rig = try rig(2)
        submit(1..<6, rig)
        rig.advance(to: 10)
        #expect(rig.executions == ["10 trailing 1+2 ×2"])
        #expect(rig.engine.waitingCount == 3)
        #expect(rig.broken == [])
        rig.end("2")
        rig.end("4")
        #expect(rig.executions == ["10 trailing 1+2 ×2", "10 trailing 3+4 ×2", "10 trailing 5"])
        #expect(rig.firsts == [0, 0, 0])
        rig.end("5")
        #expect(rig.engine.core.slots.count == 0)
    }

    @Test
    func `later values join the rest`() throws {
        let rig = try rig(2)
        submit(1..<4, rig)
        rig.advance(to: 10)
        submit(4..<6, rig, at: 11)
        rig.flush("k", at: 12)
        rig.end("2")
        rig.end("4")
        #expect(rig.executions == ["10 trailing 1+2 ×2", "12 flush 3+4 ×2", "12 flush 5"])
        #expect(rig.firsts == [0, 0, 0])
        #expect(rig.broken == [])
    }

    @Test
    func `a part that fails stops nothing`() throws {
        let rig = try rig(1)
        submit(1..<3, rig)
        rig.advance(to: 10)
        rig.end("1", .threw)
        #expect(rig.executions.last == "10 trailing 2")
        #expect(rig.fates("1", "2") == [.failed, .running])
    }

    @Test
    func `the rest is not skipped, though a part is running`() throws {
        let rig = try rig(1, .skip)
        submit(1..<3, rig)
        rig.advance(to: 10)
        rig.submit("late", at: 11, wait: 0)
        rig.advance(to: 11)
        rig.end("1")
        #expect(rig.executions == ["10 trailing 1", "10 trailing 2"])
        #expect(rig.fate("late") == .absorbed)
    }

    @Test
    func `under .concurrent, as in a simulation, a key's parts follow each other at once`() throws {
        let rig = try rig(2, .concurrent)
        submit(1..<6, rig, "a")
        submit(6..<7, rig, "b")
        rig.advance(to: 10)
        #expect(
            rig.executions == [
                "10 trailing a: 1+2 ×2", "10 trailing a: 3+4 ×2", "10 trailing a: 5", "10 trailing b: 6",
            ])
    }

    @Test
    func `the parts of one key do not hold back other keys that wait for a concurrency slot`() throws {
        let rig = try rig(1, maxConcurrent: 1)
        submit(1..<4, rig, "a")
        submit(4..<5, rig, "b")
        submit(5..<7, rig, "c")
        rig.advance(to: 10)
        for value in ["1", "4", "5", "2", "6"] { rig.end(value) }
        #expect(rig.executions.map { $0.last } == ["1", "4", "5", "2", "6", "3"])
        #expect(rig.broken == [])
    }

    @Test
    func `a caller of a flush waits for every part that has its submits, and for no later one`() throws {
        let rig = try rig(2)
        submit(1..<4, rig)
        rig.flush("k", at: 1)
        #expect(rig.wait(7, "k"))
        submit(4..<8, rig, at: 2)
        rig.flush("k", at: 3)
        rig.end("2")
        #expect(rig.resumed == [])
        rig.end("4")
        #expect(rig.resumed == [7])
        #expect(rig.broken == [])
    }

    @Test(arguments: [false, true])
    func `a caller of a flush waits for the part that runs when a cancel drops the rest`(_ waitsForAll: Bool) throws {
        let rig = try rig(2)
        submit(1..<6, rig)
        rig.flush("k", at: 1)
        #expect(waitsForAll ? rig.wait(7) : rig.wait(7, "k"))
        rig.end("2")
        rig.cancel("k", at: 2)
        #expect(rig.resumed == [])
        rig.end("4")
        #expect(rig.resumed == [7])
        #expect(rig.fates("4", "5") == [.executed, .cancelled])
        #expect(rig.broken == [])
    }

    @Test
    func `a caller of a flush waits for parts that run at once, in whichever order they end`() throws {
        let rig = try rig(1, .concurrent)
        submit(1..<4, rig)
        rig.flush("k", at: 1)
        #expect(rig.wait(7, "k"))
        rig.end("3")
        rig.end("1")
        #expect(rig.resumed == [])
        rig.end("2")
        #expect(rig.resumed == [7])
        #expect(rig.broken == [])
    }

    @Test
    func `a cancel drops the rest, and leaves the part that runs`() throws {
        let rig = try rig(1)
        submit(1..<4, rig)
        rig.advance(to: 10)
        rig.cancel("k", at: 11)
        rig.end("1")
        #expect(rig.executions == ["10 trailing 1"])
        #expect(rig.fates("1", "2", "3") == [.executed, .cancelled, .cancelled])
        #expect(rig.broken == [])
    }

    @Test
    func `a large batch comes out whole, part by part`() throws {
        var engine = Engine<Int, Int>(try Setup(.debounce(10), combination: .collect, maxBatch: 100))
        for value in 0..<100_050 { _ = engine.submit(value, for: 1, at: .origin) }
        var actions = engine.advance(to: CoreInstant(10))
        var values: [Int] = []
        while case .start(let execution) = actions.more.first {
            #expect(execution.batch.size == min(100, 100_050 - values.count))
            values += execution.batch.values
            actions = engine.ended(execution.run, .returned).1
        }
        #expect(values == Array(0..<100_050))
        #expect(engine.counters.addUp && engine.counters.executed == 100_050)
    }
}
