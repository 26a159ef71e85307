internal import Lull
internal import LullCore
internal import LullDurable
internal import Testing

extension ConformanceCase {
    /// The one policy that all users of a namespace have, and its changes.
    static let policies: [ConformanceCase] = [
        ConformanceCase("another kind, other edges or another combination are refused, and change nothing") { fixture in
            let rules = try DurableRules.debounce(10)
            try await fixture.open(rules)
            let others: [DurableRules] = [
                try .throttle(10, .trailing), try .debounce(10, .leading), try .debounce(10, .both),
                try .debounce(10, .first), try .debounce(10, .collect),
            ]
            for other in others {
                await #expect(throws: DurableError.otherPolicy(namespace: "n", stored: rules, given: other)) {
                    try await fixture.open(other)
                }
                await #expect(throws: DurableError.otherPolicy(namespace: "n", stored: rules, given: other)) {
                    try await fixture.change(other)
                }
            }
            #expect(try await fixture.open(nil) == rules)
        },
        ConformanceCase("other durations and counts are refused, unless the opening changes them for all") {
            fixture in
            let rules = try DurableRules.debounce(10, .collect)
            try await fixture.open(rules)
            let other = try await fixture.another()
            let others: [DurableRules] = [
                try .debounce(11, .collect), try .debounce(10, maxWait: 20, .trailing, .restart, .collect),
                try .debounce(10, .trailing, .extend, .collect), try .debounce(10, .trailing, maxCount: 3, .collect),
                try DurableRules(
                    .debounce(wait: .milliseconds(10), spacing: .milliseconds(5)), combination: .collect),
                try DurableRules(rules.policy, combination: .collect, maxBatch: 2),
                try DurableRules(
                    rules.policy, combination: .collect, maxBatch: nil,
                    limit: RateLimit(starts: 2, period: .seconds(1), burst: 1)),
                try DurableRules(rules.policy, combination: .collect, maxBatch: nil, maxRunning: 1),
            ]
            var stored = rules
            for changed in others {
                await #expect(throws: DurableError.otherPolicy(namespace: "n", stored: stored, given: changed)) {
                    try await other.open(changed)
                }
                #expect(try await fixture.open(nil) == stored)
                // A Redis server that counts running runs has one shard from the beginning.
                if changed.maxRunning != nil { continue }
                let opening = try await other.store.open("n", changed, changingPolicy: true)
                #expect(opening.rules == changed && opening.replaced == stored)
                #expect(try await fixture.open(nil) == changed)
                // Only the opening that has changed them tells of it.
                #expect(try await other.store.open("n", changed, changingPolicy: true).replaced == nil)
                stored = changed
            }
            await other.closeOther()
        },
        ConformanceCase("of many that open a namespace at once with different policies, one decides") { fixture in
            let other = try await fixture.another()
            for round in 0..<5 {
                let name = "contended \(round)"
                let answers = try await withThrowingTaskGroup(of: Result<DurableRules, DurableError>.self) { group in
                    for wait in 1...8 {
                        let rules = try DurableRules.debounce(wait)
                        let store = wait.isMultiple(of: 2) ? fixture.store : other.store
                        group.addTask {
                            do throws(DurableError) {
                                return .success(try await store.open(name, rules, changingPolicy: false).rules)
                            } catch {
                                return .failure(error)
                            }
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                let opened = answers.compactMap { try? $0.get() }
                let refused = answers.compactMap { answer -> DurableRules? in
                    guard case .failure(.otherPolicy(name, let stored, _)) = answer else { return nil }
                    return stored
                }
                #expect(opened.count == 1 && refused.count == 7)
                let stored = try await fixture.open(nil, name)
                #expect(Set(opened + refused) == [stored])
                #expect(try await fixture.store.status().filter { $0.namespace == name }.map(\.rules) == [stored])
            }
            await other.closeOther()
        },
        ConformanceCase("a namespace that collects is not opened to merge, nor the reverse, and stays as it is") {
            fixture in
            let collecting = try DurableRules.debounce(10, .collect)
            let merging = collecting.merging(true)
            try await fixture.open(collecting)
            try await fixture.open(merging, "m")
            await #expect(throws: DurableError.otherPolicy(namespace: "n", stored: collecting, given: merging)) {
                try await fixture.open(merging)
            }
            await #expect(throws: DurableError.otherPolicy(namespace: "m", stored: merging, given: collecting)) {
                try await fixture.open(collecting, "m")
            }
            #expect(try await fixture.open(nil) == collecting)
            #expect(try await fixture.open(nil, "m") == merging)
            let longer = try DurableRules(
                .debounce(wait: .milliseconds(20)), combination: .collect, isMerging: true, maxBatch: 3)
            #expect(try await fixture.change(longer, "m") == longer)
            let fixture = try await fixture.reopened()
            #expect(try await fixture.open(nil, "m") == longer)
            #expect(try await fixture.store.status().map(\.rules) == [longer, collecting])
            await fixture.closeOther()
        },
        ConformanceCase("of two that change a policy at once, one has the last word for all keys") { fixture in
            try await fixture.open(.debounce(10))
            let other = try await fixture.another()
            for round in 0..<10 {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (store, wait) in [(fixture.store, 20), (other.store, 30)] {
                        let rules = try DurableRules.debounce(wait + 100 * round)
                        group.addTask { _ = try await store.open("n", rules, changingPolicy: true) }
                    }
                    try await group.waitForAll()
                }
                let last = try await fixture.open(nil)
                for key in 0..<16 {
                    let due = try await fixture.submit("a", "key \(key)").dueIn
                    #expect(due == .nanoseconds(last.policy.wait.nanoseconds), "key \(key)")
                }
            }
            await other.closeOther()
        },
        ConformanceCase("changed durations hold from the next submit on") { fixture in
            try await fixture.open(.debounce(10, maxWait: 20))
            let before = try await fixture.submit("a", "old")
            try await fixture.submit("a")
            let changed = try DurableRules.debounce(100, maxWait: 200)
            #expect(try await fixture.change(changed) == changed)
            #expect(try await fixture.submit("b").dueIn == .milliseconds(100))
            fixture.pass(10)
            #expect(try await fixture.state(before) == .ready)
            #expect(try await fixture.work() == ["old trailing a"])
            fixture.pass(90)
            #expect(try await fixture.work() == ["k trailing b ×2"])
        },
        ConformanceCase("a longest wait that is changed holds from the next submit on") { fixture in
            try await fixture.open(.debounce(10, maxWait: 1000))
            try await fixture.submit("a", wait: 500)
            try await fixture.submit("a", "other", wait: 500)
            try await fixture.change(.debounce(10, maxWait: 20))
            fixture.pass(15)
            #expect(try await fixture.submit("b", wait: 500).dueIn == .milliseconds(5))
            fixture.pass(5)
            #expect(try await fixture.work() == ["k maxWait b ×2"])
            fixture.pass(480)
            #expect(try await fixture.work() == ["other trailing a"])
        },
        ConformanceCase("an interval that is changed holds from the next submit on") { fixture in
            try await fixture.open(.throttle(10, .trailing))
            try await fixture.submit("a")
            try await fixture.change(.throttle(50, .trailing))
            fixture.pass(10)
            #expect(try await fixture.work() == ["k trailing a"])
        },
    ]
}
