import LullReference
import Testing

@testable import LullCore

@Suite("Agenda")
struct AgendaTests {
    private typealias Entry = Agenda.Entry

    private func pop(_ agenda: inout Agenda, _ now: Int) -> [UInt32] {
        var slots: [UInt32] = []
        while let entry = agenda.pop(notAfter: CoreInstant(now)) { slots.append(entry.slot) }
        return slots
    }

    @Test("an empty agenda has nothing next")
    func empty() {
        var agenda = Agenda()
        #expect(agenda.next == nil)
        #expect(agenda.pop(notAfter: .farFuture) == nil)
        #expect(agenda.checkInvariants() == [])
    }

    @Test("entries come out in order of their instants, and none before its own")
    func order() {
        var agenda = Agenda()
        for (slot, at) in [50, 7, 1_000_000, 8, -3].enumerated() {
            agenda.push(Entry(at: CoreInstant(at), slot: UInt32(slot), birth: UInt64(slot)))
        }
        #expect(agenda.next == CoreInstant(-3))
        #expect(pop(&agenda, 7) == [4, 1])
        #expect(agenda.next == CoreInstant(8))
        #expect(pop(&agenda, 999_999) == [3, 0])
        #expect(pop(&agenda, .max) == [2])
        #expect(agenda.count == 0)
    }

    @Test("of entries at one instant the oldest burst's comes first, also when the numbers of bursts wrap around")
    func ties() {
        var agenda = Agenda()
        let births: [UInt64] = [(1 << 32) + 3, (1 << 32) - 2, 1 << 32, (1 << 32) - 1]
        for (slot, birth) in births.enumerated() {
            agenda.push(Entry(at: CoreInstant(9), slot: UInt32(slot), birth: birth))
        }
        #expect(pop(&agenda, 9) == [1, 3, 2, 0])
    }

    @Test("an entry that joins the ones being popped takes its place among them")
    func lateTie() {
        var agenda = Agenda()
        for birth in [1, 5, 9] as [UInt64] { agenda.push(Entry(at: CoreInstant(9), slot: UInt32(birth), birth: birth)) }
        #expect(agenda.pop(notAfter: CoreInstant(9))?.slot == 1)
        agenda.push(Entry(at: CoreInstant(9), slot: 7, birth: 7))
        #expect(pop(&agenda, 9) == [5, 7, 9])
    }

    @Test("the ends of the range are instants like any others")
    func extremes() {
        var agenda = Agenda()
        for (slot, at) in [Int.max, .min, 0, -1, .max - 1].enumerated() {
            agenda.push(Entry(at: CoreInstant(at), slot: UInt32(slot), birth: UInt64(slot)))
        }
        #expect(agenda.checkInvariants() == [])
        #expect(pop(&agenda, .max) == [1, 3, 2, 4, 0])
    }

    @Test("it agrees with a sorted array on random calls", arguments: 0..<20)
    func random(seed: Int) {
        var random = SplitMix(seed: UInt64(seed))
        var agenda = Agenda()
        var array: [(at: Int, birth: UInt64)] = []
        var now = random.pick([0, .min, -50])
        let spread = random.pick([1, 10, 1000, 1 << 40])
        for birth in 0..<2000 as Range<UInt64> {
            if random.oneIn(2) {
                let at = later(now, by: Int.random(in: 0...spread, using: &random))
                array.append((at, birth))
                agenda.push(Entry(at: CoreInstant(at), slot: UInt32(birth), birth: birth))
            } else {
                now = later(now, by: Int.random(in: 0...max(1, spread / 4), using: &random))
                let expected = array.filter { $0.at <= now }.min { ($0.at, $0.birth) < ($1.at, $1.birth) }
                let popped = agenda.pop(notAfter: CoreInstant(now))
                #expect(popped.map { UInt64($0.slot) } == expected?.birth)
                array.removeAll { $0.birth == expected?.birth }
            }
            #expect(agenda.next.map { Int($0.nanoseconds) } == array.map { $0.at }.min())
            #expect(agenda.count == array.count)
            if birth % 50 == 0 { #expect(agenda.checkInvariants() == []) }
        }
    }

    @Test("memory is given back when many entries have been popped")
    func memory() {
        var agenda = Agenda()
        for slot in 0..<100_000 as Range<UInt32> {
            agenda.push(Entry(at: CoreInstant(Int(slot) % 1000), slot: slot, birth: UInt64(slot)))
        }
        while agenda.pop(notAfter: .farFuture) != nil {}
        #expect(agenda.allBuckets.reduce(0) { $0 + Int($1.capacity) } <= 65 * 128)
        agenda.removeAll()
        #expect(agenda.allBuckets.isEmpty)
    }
}
