import LullDurable
import LullCore
import LullReference
import TestSupport
import Testing

/// Random calls on a row: whatever happens, nothing is lost and nothing is counted twice.
@Suite("A durable row: random calls", .ownThreads)
struct DurableRowRandomTests {
    static let operations = environment("LULL_OPERATIONS", default: 40_000)

    private func policy(_ random: inout SplitMix) throws -> Policy {
        let wait = CoreDuration.seconds(Int64.random(in: 0...4, using: &random))
        let edges: Edges = [[.leading], [.trailing], [.leading, .trailing]].randomElement(using: &random) ?? .trailing
        let maxCount =
            edges.contains(.trailing) && Bool.random(using: &random) ? Int.random(in: 1...4, using: &random) : nil
        if Bool.random(using: &random) { return try .throttle(interval: wait, edges: edges, maxCount: maxCount) }
        let longer = Bool.random(using: &random) ? CoreDuration.seconds(Int64.random(in: 4...8, using: &random)) : nil
        let spacing =
            edges.contains(.trailing) && Bool.random(using: &random)
            ? CoreDuration.seconds(Int64.random(in: 0...9, using: &random)) : nil
        return try .debounce(
            wait: wait, maxWait: longer, edges: edges,
            delayRule: Bool.random(using: &random) ? .extend : .restart, maxCount: maxCount, spacing: spacing)
    }

    private func maxBatch(for combination: CombinationRule, _ random: inout SplitMix) -> Int? {
        combination == .collect ? [nil, 1, 2, 3].randomElement(using: &random) ?? nil : nil
    }

    @Test
    func `after every call the ranges tile all submits, and a claim hands out what is due, in its time`() throws {
        let seed = environment("LULL_SEED", default: UInt64(20_260_101))
        var random = SplitMix(seed: seed)
        var counts: [EndKind: Int] = [:]
        var done = 0
        var parts = 0
        var (marked, held, joined) = (0, 0, 0)
        while done < Self.operations {
            let combination = [CombinationRule.latest, .first, .collect].randomElement(using: &random) ?? .latest
            var rig = try RowRig(
                policy(&random), combination: combination, maxBatch: maxBatch(for: combination, &random),
                whileRunning: [.queue, .restart, .restart(interrupting: .whenSubmitted)]
                    .randomElement(using: &random) ?? .queue,
                base: Int64.random(in: 0...5, using: &random))
            var now = 0.0
            for _ in 0..<40 {
                now += Double(Int.random(in: 0...8, using: &random)) / 2
                let had = rig.row.run
                if combination == .collect, Int.random(in: 0..<20, using: &random) == 0 {
                    try rig.change(maxBatch: maxBatch(for: combination, &random))
                }
                switch Int.random(in: 0..<10, using: &random) {
                case 0...3:
                    let wait = Bool.random(using: &random) ? nil : Double(Int.random(in: -1...5, using: &random))
                    let generation = rig.row.generation
                    rig.submit(UInt8(truncatingIfNeeded: done), at: now, wait: wait)
                    #expect(rig.row.generation == generation + 1)
                case 4, 5:
                    if rig.claim(at: now) {
                        let run = try #require(rig.row.run)
                        #expect(run.value.due <= RowRig.at(now) && run.value.count <= run.value.submits.count)
                        #expect((1...rig.maxAttempts).contains(run.attempt))
                        if run.id == run.fence, let maxBatch = rig.rules.maxBatch {
                            #expect(run.value.count <= maxBatch)
                            parts += rig.row.ready?.since == nil ? 0 : 1
                        }
                        if let had, had.id == run.id {
                            #expect(had.value == run.value && had.state.end <= RowRig.at(now) && run.fence > had.fence)
                        }
                    }
                case 6: if had?.isInBackoff == false { rig.complete(at: now) }
                case 7:
                    if let had, !had.isInBackoff {
                        let isLast = had.attempt >= rig.maxAttempts
                        rig.fail(at: now, retry: isLast ? nil : Double(Int.random(in: 0...5, using: &random)))
                    }
                case 8:
                    switch Int.random(in: 0..<6, using: &random) {
                    case 0: if had?.isInBackoff == false { rig.release(at: now) }
                    case 1: rig.flush(at: now)
                    case 2: rig.touch(at: now, wait: Bool.random(using: &random) ? nil : 3)
                    case 3: if had?.isInBackoff == false { rig.interrupted(at: now) }
                    case 4:
                        if had?.isInBackoff == false {
                            rig.snooze(Double(Int.random(in: 0...5, using: &random)), at: now)
                        }
                    default: rig.cancel(at: now)
                    }
                default: now += 31
                }
                if let had, had.isInterrupted, let run = rig.row.run, run.id == had.id, !run.isInBackoff,
                    run.fence == had.fence
                {
                    #expect(run.mark == had.mark)
                }
                if rig.row.run?.isInterrupted == true { marked += 1 }
                if rig.row.ready?.isHeld == true { held += 1 }
                if let had, rig.row.run?.id != had.id,
                    rig.row.ready?.submits.contains(had.value.submits.lowerBound) == true
                {
                    joined += 1
                    #expect(rig.row.ready?.first == had.value.first)
                    // The rest of a batch queues behind whatever is waiting now.
                    #expect(rig.row.ready?.since == nil || had.isInBackoff || rig.row.ready?.since == RowRig.at(now))
                }
                if combination == .latest, rig.row.ready != nil, let run = rig.row.run, run.isInBackoff {
                    #expect(run.error == nil && !run.isSnoozed, "a newer value replaces a run that has failed")
                }
                let wake = rig.row.wake(by: rig.rules)
                if let startable = rig.row.startable { #expect(wake <= startable) }
                if let due = rig.row.due(by: rig.rules) { #expect(wake <= due) }
                done += 1
            }
            for ending in rig.endings { counts[ending.how, default: 0] += 1 }
            // One failure is enough.
            if !rig.gaps().isEmpty || !rig.row.checkInvariants().isEmpty {
                Issue.record("LULL_SEED=\(seed) LULL_OPERATIONS=\(Self.operations)")
                return
            }
        }
        for how in EndKind.allCases { #expect(counts[how, default: 0] > 20, "LULL_SEED=\(seed)") }
        #expect(parts > 20, "LULL_SEED=\(seed)")
        #expect(min(marked, held, joined) > 20, "LULL_SEED=\(seed): \(marked) \(held) \(joined)")
    }
}
