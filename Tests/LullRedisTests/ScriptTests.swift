import LullCore
import LullDurable
import LullReference
import TestSupport
import Testing

@testable import LullRedis

/// Random calls to the scripts and to `DurableRow`, with every field compared after each.
///
/// `LULL_DIFFERENTIAL` asks for more calls, `LULL_SEED` for other ones or those of a failure.
@Suite("The scripts", .onRedis, .ownThreads)
struct ScriptTests {
    private let calls = environment("LULL_DIFFERENTIAL", default: 8000)
    private let seed = environment("LULL_SEED", default: UInt64(20_261_120))

    private func duration(_ range: ClosedRange<Int64>, _ random: inout SplitMix) -> CoreDuration {
        .nanoseconds(Int64.random(in: range, using: &random) * 1000)
    }

    private func policy(_ kind: Policy.Kind, _ edges: Edges, _ random: inout SplitMix) throws -> Policy {
        let wait = duration(0...6, &random)
        let maxCount = edges.contains(.trailing) && random.oneIn(3) ? Int.random(in: 1...4, using: &random) : nil
        if kind == .throttle { return try .throttle(interval: wait, edges: edges, maxCount: maxCount) }
        let maxWait =
            random.oneIn(2) ? CoreDuration(nanoseconds: wait.nanoseconds + duration(0...8, &random).nanoseconds) : nil
        let spacing = edges.contains(.trailing) && random.oneIn(2) ? duration(0...16, &random) : nil
        return try .debounce(
            wait: wait, maxWait: maxWait, edges: edges, delayRule: random.oneIn(3) ? .extend : .restart,
            maxCount: maxCount,
            spacing: spacing)
    }

    private func maxBatch(_ combination: Combination, _ random: inout SplitMix) -> Int? {
        combination == .collect && random.oneIn(2) ? Int.random(in: 1...3, using: &random) : nil
    }

    @Test
    func `the scripts do what a row does, field by field`() throws {
        let session = try Session(TestRedis.shared.get(), 999)
        var random = SplitMix(seed: seed)
        var done = 0
        var claimed = 0
        var ends: [DurableOutcome: Int] = [:]
        var trial = 0
        while done < calls {
            trial += 1
            let kind: Policy.Kind = random.oneIn(3) ? .throttle : .debounce
            let edges = random.pick([Edges.leading, .trailing, .trailing, [.leading, .trailing]])
            let combination = random.pick([Combination.latest, .latest, .first, .collect])
            let whileRunning = random.pick([
                DurableWhileRunning.queue, .restart, .restart(interrupting: .whenSubmitted),
            ])
            var comparison = try RowComparison(
                session, "n\(trial)",
                DurableRules(
                    policy(kind, edges, &random), combination: combination, maxBatch: maxBatch(combination, &random),
                    whileRunning: whileRunning))
            var now = CoreInstant(nanoseconds: 1_000_000)
            for _ in 0..<40 {
                done += 1
                now = now.advanced(by: duration(0...(random.oneIn(8) ? 12 : 2), &random))
                let key = random.pick(["a", "b", "c"])
                switch Int.random(in: 0..<23, using: &random) {
                case 0..<9:
                    let submits = (0..<random.pick([1, 1, 1, 2, 4])).map { _ in
                        RowComparison.Submit(
                            key: random.pick(["a", "b", "c"]), value: UInt8.random(in: 0...255, using: &random),
                            wait: random.oneIn(5) ? duration(-1...9, &random) : nil,
                            submitter: random.oneIn(2) ? Int64.random(in: 1...2, using: &random) : nil)
                    }
                    try comparison.submit(submits, at: now)
                case 9..<13: claimed += try comparison.claim(at: now, lease: duration(1...8, &random))
                case 13, 14: try comparison.report(key, "completed", span: nil, at: now)
                case 15:
                    try comparison.report(
                        key, "failed", span: random.oneIn(3) ? nil : duration(0...6, &random), at: now)
                case 16:
                    try comparison.report(
                        key, random.oneIn(2) ? "released" : "heartbeat", span: duration(1...8, &random), at: now)
                case 20:
                    try comparison.touch(key, wait: random.oneIn(2) ? duration(-1...9, &random) : nil, at: now)
                case 21, 22: try comparison.report(key, "interrupted", span: nil, at: now)
                case 17: try comparison.change(key, random.pick(["flush", "cancel"]), of: nil, at: now)
                case 18: try comparison.change(key, random.pick(["flushOwn", "cancelOwn"]), of: 1, at: now)
                default:
                    try comparison.open(
                        DurableRules(
                            policy(kind, edges, &random), combination: combination,
                            maxBatch: maxBatch(combination, &random), whileRunning: whileRunning))
                }
                try comparison.compareValues()
                if let difference = comparison.difference {
                    Issue.record(
                        "LULL_SEED=\(seed) LULL_DIFFERENTIAL=\(calls): call \(done), \(comparison.rules)\n\(difference)"
                    )
                    return
                }
            }
            ends.merge(comparison.ends, uniquingKeysWith: +)
            try session(Command("FLUSHDB"))
        }
        print("\(done) calls, \(claimed) runs, \(ends.values.reduce(0, +)) ends, no difference")
        for how in DurableOutcome.allCases { #expect(ends[how, default: 0] > calls / 1000, "\(how)") }
    }
}
