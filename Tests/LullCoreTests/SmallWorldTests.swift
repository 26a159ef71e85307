import LullReference
import TestSupport
import Testing

@testable import LullCore

/// Every sequence of a few calls on one gate, under every policy with small numbers, compared with the reference.
///
/// Set `LULL_DEPTH` for longer sequences.
@Suite("Small world", .ownThreads)
struct SmallWorldTests {
    enum Call: CaseIterable {
        case submit, submitShortly, touch, flush, cancel, step, twoSteps
    }

    /// A gate and the reference's, at one instant.
    struct World {
        var policy: Policy
        var gate = Gate()
        var reference: ReferenceGate
        var now = 0

        init(_ policy: ReferencePolicy) throws(PolicyError) {
            self.policy = try Policy(policy)
            reference = ReferenceGate(policy)
        }

        /// The gate, with instants relative to this one.
        var state: Gate {
            var state = gate
            state.quiet = gate.isOpen ? relative(gate.quiet) : .origin
            state.first = gate.count > 0 ? relative(gate.first) : .origin
            let countsLatest =
                gate.isOpen && !policy.edges.contains(.trailing) || gate.next(by: policy) > CoreInstant(now)
            state.latest = countsLatest ? relative(gate.latest) : .origin
            return state
        }

        private func relative(_ instant: CoreInstant) -> CoreInstant { CoreInstant(Int(instant.nanoseconds) - now) }

        /// - Returns: Whether both do the same.
        mutating func apply(_ call: Call) -> Bool {
            switch call {
            case .step: now += 1
            case .twoSteps: now += 2
            case .submit, .submitShortly, .touch, .flush, .cancel: break
            }
            guard settle() else { return false }
            let at = CoreInstant(now)
            switch call {
            case .step, .twoSteps: return true
            case .submit, .submitShortly:
                let wait = call == .submit ? nil : 1
                let decision = gate.submit(at: at, wait: wait.map { CoreDuration($0) }, by: policy)
                return isSame(decision, reference.submit(at: now, wait: wait))
            case .touch:
                gate.touch(at: at, wait: nil, by: policy)
                reference.touch(at: now, wait: nil)
                return true
            case .flush: return isSame(gate.flush(at: at, by: policy), reference.flush(at: now))
            case .cancel:
                gate.close(at: at, by: policy)
                reference.cancel()
                return true
            }
        }

        /// Lets both do what is due by now: the gate in one step, the reference change by change.
        private mutating func settle() -> Bool {
            var expected: [ReferenceGate.Due] = []
            while let change = reference.nextChange, change <= now {
                if let next = reference.change() { expected.append(next) }
            }
            let due = gate.settle(at: CoreInstant(now), by: policy)
            return expected.count <= 1 && isSame(due, expected.first) && gate.isOpen == (reference.openUntil != nil)
                && (gate.phase == .resting) == (reference.openUntil == nil && reference.next ?? .min > now)
                && gate.due(by: policy).map { Int($0.nanoseconds) } == reference.due
        }

        private func isSame(_ decision: Gate.Decision, _ answer: ReferenceGate.Answer) -> Bool {
            switch (decision, answer) {
            case (.join, .pending), (.fill, .pending), (.absorb, .absorbed): true
            case (.lead, .leads(let due)): due == ReferenceGate.Due(at: now, cause: .leading, count: 1, first: now)
            case (.complete(let due), .completes(let expected)): isSame(due, expected)
            default: false
            }
        }

        private func isSame(_ due: Gate.Due?, _ expected: ReferenceGate.Due?) -> Bool {
            due.map { [Int($0.at.nanoseconds), $0.count, Int($0.first.nanoseconds)] }
                == expected.map { [$0.at, $0.count, $0.first] }
                && due.map { ReferenceEdge($0.cause) } == expected?.cause
        }
    }

    static let policies: [ReferencePolicy] = {
        var policies: [ReferencePolicy] = []
        for (leading, trailing) in [(true, false), (false, true), (true, true)] {
            for maxCount in trailing ? [nil, 1, 2, 3] : [nil] as [Int?] {
                for wait in 0...3 {
                    policies.append(
                        ReferencePolicy(
                            .throttle, wait: wait, leading: leading, trailing: trailing, maxCount: maxCount))
                    for (maxWait, extends) in [(nil, false), (nil, true), (wait, false), (wait + 2, true)] {
                        for spacing in trailing ? [nil, 2, 5] : [nil] as [Int?] {
                            policies.append(
                                ReferencePolicy(
                                    .debounce, wait: wait, maxWait: maxWait, leading: leading, trailing: trailing,
                                    extends: extends, maxCount: maxCount, spacing: spacing))
                        }
                    }
                }
            }
        }
        return policies
    }()

    @Test
    func `a gate and the reference agree on every sequence of calls`() throws {
        let depth = environment("LULL_DEPTH", default: 4)
        var (calls, states) = (0, 0)
        for policy in Self.policies {
            var visited: Set<Gate> = []
            let failure = explore(try World(policy), depth, [], &calls, &visited)
            #expect(failure == nil, "\(ReferenceSetup(policy))")
            states += visited.count
        }
        print("\(Self.policies.count) policies, sequences of \(depth) calls: \(calls) calls, \(states) states of gates")
    }

    /// - Returns: The shortest prefix of a sequence after which the two differ.
    private func explore(
        _ world: World, _ depth: Int, _ path: [Call], _ calls: inout Int, _ visited: inout Set<Gate>
    ) -> [Call]? {
        visited.insert(world.state)
        guard depth > 0 else { return nil }
        for call in Call.allCases {
            var next = world
            calls += 1
            if !next.apply(call) { return path + [call] }
            if let failure = explore(next, depth - 1, path + [call], &calls, &visited) { return failure }
        }
        return nil
    }
}
