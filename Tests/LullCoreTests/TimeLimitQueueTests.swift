import LullReference
import Testing

@testable import LullCore

/// Semantics, section 7, time limits: in which order, and with how much memory.
@Suite("The queue of time limits")
struct TimeLimitQueueTests {
    private func entry(_ number: Int) -> TimeLimitQueue.Entry {
        TimeLimitQueue.Entry(at: CoreInstant(number / 3), run: RunID(slot: 0, serial: UInt64(number)))
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `gives back in order what was added and has not ended`(_ seed: UInt64) {
        var random = SplitMix(seed: seed)
        var queue = TimeLimitQueue()
        var running: [Int] = []
        let most = random.pick([1, 5, 60, 600])
        for number in 0..<5000 {
            running.append(number)
            while running.count > most || random.oneIn(2) && !running.isEmpty {
                running.remove(at: Int.random(in: running.indices, using: &random))
            }
            let kept = Set(running).union([number])
            queue.push(entry(number), bound: 2 * kept.count + 64) { kept.contains(Int($0.run.serial)) }
            #expect(queue.count <= 4 * most + 130)
            while random.oneIn(10), let front = queue.front {
                let serial = Int(front.run.serial)
                #expect(running.allSatisfy { $0 >= serial })
                queue.removeFront()
                running.removeAll { $0 == serial }
            }
        }
        var rest: [Int] = []
        while let front = queue.front {
            rest.append(Int(front.run.serial))
            queue.removeFront()
        }
        #expect(queue.count == 0)
        #expect(rest == rest.sorted())
        #expect(Set(rest).isSuperset(of: running))
    }
}
