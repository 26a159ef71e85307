import LullReference
import Testing

@testable import LullCore

@Suite("Deadline queue")
struct DeadlineQueueTests {
    private typealias Entry = DeadlineQueue.Entry

    private func pop(_ queue: inout DeadlineQueue, _ now: Int) -> [UInt32] {
        var slots: [UInt32] = []
        while let entry = queue.pop(notAfter: CoreInstant(now)) { slots.append(entry.slot) }
        return slots
    }

    @Test
    func `an empty queue has nothing next`() {
        var queue = DeadlineQueue()
        #expect(queue.next == nil)
        #expect(queue.pop(notAfter: .farFuture) == nil)
        #expect(queue.checkInvariants() == [])
    }

    @Test
    func `entries come out in order of their instants, and none before its own`() {
        var queue = DeadlineQueue()
        for (slot, at) in [50, 7, 1_000_000, 8, -3].enumerated() {
            queue.push(Entry(at: CoreInstant(at), slot: UInt32(slot), burst: UInt64(slot)))
        }
        #expect(queue.next == CoreInstant(-3))
        #expect(pop(&queue, 7) == [4, 1])
        #expect(queue.next == CoreInstant(8))
        #expect(pop(&queue, 999_999) == [3, 0])
        #expect(pop(&queue, .max) == [2])
        #expect(queue.count == 0)
    }

    @Test
    func `of entries at one instant the oldest burst's comes first, also when the numbers of bursts wrap around`() {
        var queue = DeadlineQueue()
        let bursts: [UInt64] = [(1 << 32) + 3, (1 << 32) - 2, 1 << 32, (1 << 32) - 1]
        for (slot, burst) in bursts.enumerated() {
            queue.push(Entry(at: CoreInstant(9), slot: UInt32(slot), burst: burst))
        }
        #expect(pop(&queue, 9) == [1, 3, 2, 0])
    }

    @Test
    func `an entry that joins those being popped comes out in order`() {
        var queue = DeadlineQueue()
        for burst in [1, 5, 9] as [UInt64] { queue.push(Entry(at: CoreInstant(9), slot: UInt32(burst), burst: burst)) }
        #expect(queue.pop(notAfter: CoreInstant(9))?.slot == 1)
        queue.push(Entry(at: CoreInstant(9), slot: 7, burst: 7))
        #expect(pop(&queue, 9) == [5, 7, 9])
    }

    @Test
    func `the ends of the range are instants like any others`() {
        var queue = DeadlineQueue()
        for (slot, at) in [Int.max, .min, 0, -1, .max - 1].enumerated() {
            queue.push(Entry(at: CoreInstant(at), slot: UInt32(slot), burst: UInt64(slot)))
        }
        #expect(queue.checkInvariants() == [])
        #expect(pop(&queue, .max) == [1, 3, 2, 4, 0])
    }

    @Test(arguments: 0..<20)
    func `it agrees with a sorted array on random calls`(seed: Int) {
        var random = SplitMix(seed: UInt64(seed))
        var queue = DeadlineQueue()
        var array: [(at: Int, burst: UInt64)] = []
        var now = random.pick([0, .min, -50])
        let spread = random.pick([1, 10, 1000, 1 << 40])
        for burst in 0..<2000 as Range<UInt64> {
            if random.oneIn(2) {
                let at = later(now, by: Int.random(in: 0...spread, using: &random))
                array.append((at, burst))
                queue.push(Entry(at: CoreInstant(at), slot: UInt32(burst), burst: burst))
            } else {
                now = later(now, by: Int.random(in: 0...max(1, spread / 4), using: &random))
                let expected = array.filter { $0.at <= now }.min { ($0.at, $0.burst) < ($1.at, $1.burst) }
                let popped = queue.pop(notAfter: CoreInstant(now))
                #expect(popped.map { UInt64($0.slot) } == expected?.burst)
                array.removeAll { $0.burst == expected?.burst }
            }
            #expect(queue.next.map { Int($0.nanoseconds) } == array.map { $0.at }.min())
            #expect(queue.count == array.count)
            if burst % 50 == 0 { #expect(queue.checkInvariants() == []) }
        }
    }

    @Test
    func `memory is given back when many entries have been popped`() {
        var queue = DeadlineQueue()
        for slot in 0..<100_000 as Range<UInt32> {
            queue.push(Entry(at: CoreInstant(Int(slot) % 1000), slot: slot, burst: UInt64(slot)))
        }
        #expect(queue.footprint <= 100_000 * 20)
        while queue.pop(notAfter: .farFuture) != nil {}
        #expect(queue.footprint <= 2200)
        queue.removeAll()
        #expect(queue.footprint == 0)
    }

    @Test
    func `one entry at a time needs memory for one`() {
        var queue = DeadlineQueue()
        for round in 0..<1000 {
            queue.push(Entry(at: CoreInstant(round * round), slot: 0, burst: 0))
            #expect(queue.pop(notAfter: .farFuture)?.slot == 0)
        }
        #expect(queue.footprint <= 1700)
    }

    // MARK: - A bounded amount of work

    @Test(arguments: [1, 7, 1000])
    func `a call redistributes no more entries than its budget, and reports when there is more to do`(limit: Int) {
        var queue = DeadlineQueue()
        for slot in 0..<10_000 as Range<UInt32> {
            queue.push(Entry(at: CoreInstant(1000 + Int(slot) / 3), slot: slot, burst: UInt64(slot)))
        }
        var popped: [UInt32] = []
        var redistributed = 0
        while let next = queue.next, next <= CoreInstant(100_000) {
            let before = queue.redistributing == nil ? 0 : DeadlineQueue.entries(queue.redistributing).count
            var budget = limit
            if let entry = queue.pop(notAfter: CoreInstant(100_000), budget: &budget) {
                popped.append(entry.slot)
            } else {
                #expect(budget == 0 && queue.redistributing != nil)
                #expect(before == 0 || before - DeadlineQueue.entries(queue.redistributing).count == limit)
            }
            #expect(budget >= 0)
            redistributed += limit - budget
        }
        #expect(popped == Array(0..<10_000))
        #expect(redistributed <= 10_000 * 14, "an entry is redistributed once a bit")
        #expect(queue.checkInvariants() == [])
    }

    @Test(arguments: [false, true])
    func `many entries at one instant come out in the order of bursts`(isShuffled: Bool) {
        var random = SplitMix(seed: 5)
        var queue = DeadlineQueue()
        var bursts = Array(0..<200_000 as Range<UInt32>)
        if isShuffled { bursts.shuffle(using: &random) }
        for burst in bursts { queue.push(Entry(at: CoreInstant(9), slot: burst, burst: UInt64(burst))) }
        var popped: UInt32 = 0
        var calls = 0
        while queue.count > 0 {
            calls += 1
            var budget = 100
            guard let entry = queue.pop(notAfter: CoreInstant(9), budget: &budget) else { continue }
            if entry.slot != popped { Issue.record("\(entry.slot) instead of \(popped)") }
            popped += 1
            if popped == 1 || popped == 100_000 { #expect(queue.checkInvariants() == []) }
        }
        #expect(calls <= 202_000)
        #expect(queue.footprint <= 2200)
    }

    @Test(arguments: 0..<30)
    func `entries that are pushed while others are redistributed or handed out come out in order`(seed: Int) {
        var random = SplitMix(seed: UInt64(seed))
        var queue = DeadlineQueue()
        var expected: Set<[Int]> = []
        var (now, latest, burst) = (0, 0, 0)
        let spread = random.pick([3, 100, 1 << 30])
        for step in 0..<3000 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0...2:
                burst += 1
                let at = now + Int.random(in: 0...spread, using: &random)
                queue.push(Entry(at: CoreInstant(at), slot: UInt32(burst), burst: UInt64(burst)))
                expected.insert([at, burst])
            case 3, 4:
                // Every third entry is stale.
                if !queue.isCompacting, queue.redistributing == nil { queue.beginPass() }
                for _ in 0..<random.pick([1, 5, 200]) {
                    guard let entry = queue.nextToCompact() else { break }
                    if entry.slot % 3 == 0 {
                        expected.remove([Int(entry.at), Int(entry.slot)])
                    } else {
                        queue.push(entry)
                    }
                }
            case 5:
                queue.detachFront()
            default:
                now += Int.random(in: 0...max(1, spread / 50), using: &random)
                var budget = random.pick([1, 3, 1000])
                let front = expected.min { ($0[0], $0[1]) < ($1[0], $1[1]) }
                if let entry = queue.pop(notAfter: CoreInstant(now), budget: &budget) {
                    #expect([Int(entry.at), Int(entry.slot)] == front)
                    #expect(Int(entry.at) >= latest)
                    latest = Int(entry.at)
                    expected.remove([Int(entry.at), Int(entry.slot)])
                } else {
                    #expect(budget == 0 || front.map { $0[0] > now } ?? true)
                    #expect(budget > 0 || (queue.next ?? .farFuture) <= CoreInstant(now))
                }
            }
            #expect(queue.count == expected.count)
            if let first = expected.map({ $0[0] }).min() {
                #expect(queue.next.map { Int($0.nanoseconds) <= first } ?? false)
            }
            if step % 20 == 0 { #expect(queue.checkInvariants() == []) }
        }
        var budget = Int.max
        while let entry = queue.pop(notAfter: .farFuture, budget: &budget) {
            #expect(expected.remove([Int(entry.at), Int(entry.slot)]) != nil)
        }
        #expect(expected.isEmpty && queue.count == 0)
    }
}

extension DeadlineQueue {
    fileprivate mutating func pop(notAfter now: CoreInstant) -> Entry? {
        var budget = Int.max
        return pop(notAfter: now, budget: &budget)
    }
}
