import LullCore
import LullReference
import TestSupport
import Testing

@testable import LullDurable

/// Rows as bytes.
@Suite("Rows as bytes")
struct RowBytesTests {
    /// A row after random steps, with its values in the slots of a store.
    private func row(_ random: inout SplitMix) throws -> StoredRow {
        var row = DurableRow(base: Int64.random(in: 0...1 << 54, using: &random))
        let rules = DurableRules(
            try .debounce(
                wait: .milliseconds(.random(in: 0...5, using: &random)), spacing: random.oneIn(2) ? .seconds(1) : nil),
            whileRunning: random.pick([.queue, .restart]))
        var now = CoreInstant(nanoseconds: 1_800_000_000_000_000_000)
        var (sequence, endings) = (row.born, [EndedSubmits]())
        for _ in 0..<Int.random(in: 1...12, using: &random) {
            now = now.advanced(by: .milliseconds(.random(in: 0...9, using: &random)))
            switch Int.random(in: 0..<7, using: &random) {
            case 6 where row.run?.isInBackoff == false:
                row.snooze(for: .seconds(random.pick([0, 1, 1 << 40])), at: now, by: rules, &endings)
            case 0...2:
                row.submit(
                    [1], at: now, submitter: random.pick([.unnamed, .one(-7), .several]),
                    atLeast: random.pick([.min, 1 << 55]),
                    by: rules, &endings)
            case 3:
                let terms = DurableClaim.Terms(
                    owner: .random(in: .min ... .max, using: &random), lease: .seconds(9), maxAttempts: 3)
                _ = row.claim(terms, at: now, by: rules, sequence: &sequence, &endings)
            case 4 where row.run?.isInBackoff == false:
                row.fail(
                    Array("no".utf8), retry: .seconds(random.pick([1, 1 << 40])), at: now, by: rules, &endings)
            case 5 where row.run?.isInBackoff == false: row.release(at: now, by: rules, &endings)
            default: row.settle(at: now, by: rules, &endings)
            }
        }
        // It means nothing while nothing is pending.
        if row.pending == nil { row.gate.first = .origin }
        if row.pending != nil { row.pending?.batch = Batch(.stored(.pending)) }
        if row.ready != nil { row.ready?.batch = Batch(.stored(.ready)) }
        if row.run != nil { row.run?.value.batch = Batch(.stored(.run)) }
        var places = ValuePlaces(next: row.born + 9)
        if row.pending != nil { places.pending = row.born + 3 }
        if row.ready != nil { places.ready = row.born + 2 }
        if row.run != nil { places.run = -row.born }
        return StoredRow(row: row, wake: row.wake(by: rules), latest: now, places: places)
    }

    @Test
    func `are read as they were written`() throws {
        var random = SplitMix(seed: 20_261_128)
        for _ in 0..<5000 {
            let stored = try row(&random)
            #expect(try StoredRow(stored.bytes) == stored)
            guard let run = stored.row.run else { continue }
            let dead = StoredDead(key: [0, 255], run: run, at: stored.latest, place: -5)
            #expect(try StoredDead(dead.bytes) == dead)
            let end = StoredEnd(EndedSubmits(run, .failed), at: stored.latest)
            #expect(try StoredEnd(end.bytes) == end)
        }
    }

    @Test
    func `of a pending value are few`() throws {
        var row = DurableRow(base: 1_800_000_000_000_000)
        var endings: [EndedSubmits] = []
        let rules = DurableRules(try .debounce(wait: .seconds(2)))
        let now = CoreInstant(nanoseconds: 1_800_000_000_000_000_000)
        row.submit([1], at: now, by: rules, &endings)
        row.pending?.batch = Batch(.stored(.pending))
        var places = ValuePlaces(next: row.born + 2)
        places.pending = row.born + 1
        let stored = StoredRow(row: row, wake: row.wake(by: rules), latest: now, places: places)
        #expect(stored.bytes.count <= 80)
    }

    @Test
    func `that are damaged are refused, and those of a newer version, too`() throws {
        var random = SplitMix(seed: 20_261_129)
        for _ in 0..<500 {
            let bytes = try row(&random).bytes
            for length in bytes.indices {
                #expect(throws: DurableError.self) { try StoredRow(Array(bytes[..<length])) }
            }
            var other = bytes
            other[.random(in: other.indices, using: &random)] = .random(in: 0...255, using: &random)
            // It is read as something else, or refused.
            _ = try? StoredRow(other)
        }
        var newer = try row(&random).bytes
        newer[0] = 200
        #expect(throws: DurableError.unusable("the store has rows of a newer version of Lull")) { try StoredRow(newer) }
    }

    @Test
    func `say the rules of a namespace`() throws {
        let all = [
            DurableRules(
                try .debounce(
                    wait: .seconds(2), maxWait: .seconds(9), edges: [.leading, .trailing], delayRule: .extend)),
            DurableRules(try .throttle(interval: .milliseconds(3), edges: .leading), combination: .first),
            try DurableRules(
                .debounce(wait: .zero, maxCount: 7, spacing: .seconds(1)), combination: .collect, isMerging: true,
                maxBatch: 4, limit: RateLimit(9, per: .seconds(60), burst: 2), maxRunning: 3,
                whileRunning: .restart(interrupting: .whenSubmitted)),
        ]
        for rules in all { #expect(try DurableRules(rules.bytes) == rules) }
    }
}
