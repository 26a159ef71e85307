import LullReference
import Testing

@testable import LullCore
@testable import LullEngine

/// Calls on an engine, and what it does, in a few words each, so that a rule can be read at a glance.
struct Story: Sendable, CustomTestStringConvertible {
    /// The rule.
    let testDescription: String
    /// The settings: `debounce 10 both maxWait 25`. With `slow`, handlers take time until they are ended.
    let setup: String
    /// What happens: `1@0` submits the value 1 at instant 0 under the key `k`, `a:1@0+5` under the key `a` with a delay
    /// of its own; `>9` is the time; `flush@3`, `flush:a@3` and `flush:*@3`, of all keys, like other calls; `end:1` and
    /// `throw:1` are how the execution ends that got the value 1 last; `due@3` asks.
    let calls: String
    /// What comes of it, in order: `28 trailing 3 ×3 since 0`, an execution with the edge, its values, the count and
    /// the oldest submit, and after which call if that was at another instant; `stop 1`, `overdue 1`, `resume 7`,
    /// `due 5`.
    let transcript: String
    /// What has become of values at the end.
    let fates: String

    init(_ rule: String, _ setup: String, _ calls: String, _ transcript: String, fates: String = "") {
        (testDescription, self.setup, self.calls) = (rule, setup, calls)
        (self.transcript, self.fates) = (transcript, fates)
    }

    /// Plays the story.
    func play() throws -> (transcript: String, fates: String) {
        let rig = try Rig(Setup(settings()), handlersTakeTime: setup.contains("slow"))
        var log: [String] = []
        var seen = (executions: 0, stopped: 0, overdue: 0, resumed: 0)
        for call in calls.split(separator: " ") {
            if let answer = try make(call, rig) { log.append(answer) }
            log += rig.stopped.dropFirst(seen.stopped).map { "stop \($0)" }
            log += rig.overdue.dropFirst(seen.overdue).map { "overdue \($0)" }
            let time = call.split { "@+>".contains($0) }.dropFirst(call.hasPrefix(">") ? 0 : 1).first
            for (execution, first) in zip(rig.executions, rig.firsts).dropFirst(seen.executions) {
                let since = execution.contains("×") ? " since \(first)" : ""
                log.append(execution + since + (execution.prefix { $0 != " " } == time ? "" : " after \(call)"))
            }
            log += rig.resumed.dropFirst(seen.resumed).map { "resume \($0) after \(call)" }
            seen = (rig.executions.count, rig.stopped.count, rig.overdue.count, rig.resumed.count)
            #expect(rig.broken == [], "after \(call)")
        }
        let values = fates.split(separator: ", ").map { String($0.prefix { $0 != " " }) }
        let fates = values.map { "\($0) \(rig.fate($0).map { "\($0)" } ?? "unknown")" }
        return (log.joined(separator: ", "), fates.joined(separator: ", "))
    }

    private func settings() throws -> ReferenceSetup {
        var words = setup.split(separator: " ").map(String.init)[...]
        let kind = try #require(words.popFirst().flatMap(ReferencePolicy.Kind.init))
        var policy = ReferencePolicy(kind, wait: try number(&words), leading: kind == .throttle, trailing: true)
        var setup = ReferenceSetup(policy)
        while let word = words.popFirst() {
            switch word {
            case "leading": (policy.leading, policy.trailing) = (true, false)
            case "trailing": policy.leading = false
            case "both": policy.leading = true
            case "extend": policy.extends = true
            case "maxWait": policy.maxWait = try number(&words)
            case "maxCount": policy.maxCount = try number(&words)
            case "spacing": policy.spacing = try number(&words)
            case "early": setup.interruptsWhenSubmitted = true
            case "maxConcurrent": setup.maxConcurrent = try number(&words)
            case "capacity": setup.capacity = try number(&words)
            case "maxPending": setup.maxPending = try number(&words)
            case "dropNewest": setup.overflow = .dropNewest
            case "dropOldest": setup.overflow = .dropOldest
            case "maxBatch": setup.maxBatch = try number(&words)
            case "timeLimit": setup.timeLimit = try number(&words)
            case "synchronous": setup.isSynchronous = true
            case "limit":
                setup.limit = ReferenceSetup.Limit(
                    try number(&words), per: try number(&words), burst: try number(&words))
            case "slow": break
            default:
                if let rule = ReferenceSetup.CombinationRule(rawValue: word) {
                    setup.combination = rule
                } else {
                    setup.whileRunning = try #require(ReferenceSetup.OverlapPolicy(rawValue: word), "\(word)")
                }
            }
        }
        setup.policy = policy
        return setup
    }

    private func number(_ words: inout ArraySlice<String>) throws -> Int {
        try #require(words.popFirst().flatMap { Int($0) }, "\(setup)")
    }

    /// Makes a call: `name:key@instant+wait`, or `key:value@instant+wait`.
    private func make(_ call: Substring, _ rig: Rig) throws -> String? {
        if call.hasPrefix(">") {
            rig.advance(to: try #require(Int(call.dropFirst())))
            return nil
        }
        let parts = try #require(call.wholeMatch(of: /([^:@]+)(?::([^@]+))?(?:@(-?\d+)(?:\+(-?\d+))?)?/), "\(call)")
            .output
        let (name, rest) = (String(parts.1), parts.2.map(String.init))
        let key = rest == "*" ? nil : rest ?? "k"
        let instant = parts.3.flatMap { Int($0) } ?? 0
        let wait = parts.4.flatMap { Int($0) }.map { CoreDuration($0) }
        switch name {
        case "flush": rig.flush(key, at: instant)
        case "cancel": rig.cancel(key, at: instant)
        case "stop": rig.cancel(key, running: true, at: instant)
        case "touch": rig.touch(key ?? "k", at: instant, wait: wait)
        case "shutDown": rig.shutDown(flushing: true, at: instant)
        case "drop": rig.shutDown(flushing: false, at: instant)
        case "due": return "due \(rig.due(key, at: instant).map { "\($0)" } ?? "never")"
        case "wait": return rig.wait(7, key) ? nil : "nothing to wait for"
        case "end": rig.end(rest ?? "")
        case "throw": rig.end(rest ?? "", .threw)
        case "tellingTwice": rig.end(rest ?? "", telling: 2)
        case "tell": rig.tell(rest ?? "")
        default: rig.submit(rest ?? name, rest == nil ? "k" : name, at: instant, wait: wait)
        }
        return nil
    }
}
