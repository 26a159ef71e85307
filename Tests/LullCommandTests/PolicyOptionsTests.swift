import LullCore
import LullDurable
import Testing

@testable import LullCommand

@Suite("The options of a policy")
struct PolicyOptionsTests {
    private static let wait = CoreDuration.seconds(5)

    private func rules(
        _ policy: Policy, _ combination: CombinationRule = .latest, maxBatch: Int? = nil,
        _ whileRunning: DurableOverlapPolicy = .queue
    ) throws -> DurableRules {
        try DurableRules(policy, combination: combination, maxBatch: maxBatch, whileRunning: whileRunning)
    }

    @Test func `are all in the list`() {
        let policy = Option.all.filter { $0.group == .policy }
        #expect(PolicyOptions.fields.map(\.name) == policy.map { "\($0.name)" })
        let common = Option.all.filter { $0.group != .help && $0.belongs(to: .simulate) && $0.belongs(to: .submit) }
        #expect(common.allSatisfy { $0.group == .policy })
    }

    @Test func `are those that give the rules of a namespace`() throws {
        let all = try rules(
            .debounce(
                wait: Self.wait, maxWait: .seconds(60), edges: [.leading, .trailing], delayRule: .extend, maxCount: 9,
                spacing: .seconds(30)),
            .collect, maxBatch: 4, .restart(interrupting: .whenSubmitted))
        let options = PolicyOptions(all)
        #expect(try options.policy(for: .submit) == all.policy)
        #expect(options.combination == .collect)
        #expect(options.maxBatch == 4)
        #expect(try options.storedRunningRule(for: .submit) == all.whileRunning)
        let throttle = try rules(.throttle(interval: Self.wait, maxCount: 3))
        #expect(try PolicyOptions(throttle).policy(for: .submit) == throttle.policy)
    }

    @Test func `are completed by others`() {
        let given = PolicyOptions(wait: Self.wait, maxCount: 3)
        let others = PolicyOptions(wait: .seconds(1), maxWait: .seconds(60), combination: .first)
        #expect(
            given.completed(by: others)
                == PolicyOptions(wait: Self.wait, maxWait: .seconds(60), maxCount: 3, combination: .first))
        #expect(PolicyOptions().completed(by: given) == given)
        #expect(given.completed(by: PolicyOptions()) == given)
    }

    @Test func `a spacing is compared with that of the namespace`() throws {
        let stored = try rules(.debounce(wait: Self.wait, spacing: .seconds(60)))
        func change(_ policy: PolicyOptions, changes: Bool = false) throws(Failure) -> DurableRules? {
            var options = CommandOptions()
            options.policy = policy
            options.changesPolicy = changes
            return try NamespacePolicy(options, .submit).rules(over: stored, of: "default")
        }
        #expect(try change(PolicyOptions(wait: Self.wait)) == nil)
        #expect(try change(PolicyOptions(spacing: .seconds(60))) == nil)
        #expect(
            throws: Failure.usage(
                "the namespace default has --wait 5s --spacing 1m, not --wait 5s --spacing 2m: leave the policy "
                    + "out, or change it for all users with --change-policy", .submit)
        ) { try change(PolicyOptions(spacing: .seconds(120))) }
        #expect(try change(PolicyOptions(spacing: .seconds(120)), changes: true)?.policy.spacing == .seconds(120))
        #expect(try change(PolicyOptions(spacing: .zero), changes: true)?.policy == .debounce(wait: Self.wait))
    }

    @Test func `are shown if they differ from the default or from other rules`() throws {
        let usual = try rules(.debounce(wait: Self.wait))
        let both = try rules(.debounce(wait: Self.wait, edges: [.leading, .trailing]))
        let extending = try rules(.debounce(wait: Self.wait, maxWait: .seconds(60), delayRule: .extend, maxCount: 9))
        let collecting = try rules(.debounce(wait: Self.wait), .collect, maxBatch: 4)
        let throttle = try rules(.throttle(interval: .seconds(3600)))
        let leading = try rules(.throttle(interval: .seconds(90), edges: .leading), .first)
        let spaced = try rules(.debounce(wait: Self.wait, maxCount: 9, spacing: .seconds(300)))
        let restarting = try rules(.debounce(wait: Self.wait), .latest, .restart)
        let interrupting = try rules(.debounce(wait: Self.wait), .latest, .restart(interrupting: .whenSubmitted))
        for (shown, other, text) in [
            (usual, usual, "--wait 5s"), (usual, both, "--wait 5s --edges trailing"),
            (both, usual, "--wait 5s --edges leading,trailing"), (usual, throttle, "--wait 5s"),
            (usual, extending, "--wait 5s --delay-rule restart"),
            (extending, usual, "--wait 5s --max-wait 1m --max-count 9 --delay-rule extend"),
            (collecting, usual, "--wait 5s --combine collect --max-batch 4"),
            (usual, collecting, "--wait 5s --combine latest"), (throttle, usual, "--throttle 1h"),
            (throttle, extending, "--throttle 1h"),
            (throttle, leading, "--throttle 1h --edges leading,trailing --combine latest"),
            (leading, throttle, "--throttle 1m30s --edges leading --combine first"),
            (usual, leading, "--wait 5s --combine latest"), (spaced, usual, "--wait 5s --max-count 9 --spacing 5m"),
            (usual, spaced, "--wait 5s"), (restarting, restarting, "--wait 5s --while-running restart"),
            (usual, restarting, "--wait 5s --while-running queue"),
            (restarting, interrupting, "--wait 5s --while-running restart --interrupt due"),
            (interrupting, usual, "--wait 5s --while-running restart --interrupt submit"),
        ] {
            #expect(PolicyOptions.text(shown, besides: other) == text)
        }
    }
}
