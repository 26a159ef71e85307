internal import LullCore
internal import LullDurable
internal import Testing

extension ConformanceCase {
    /// The least time between two due instants of a key, and what is kept for it.
    static let spacing: [ConformanceCase] = [
        ConformanceCase("a value waits for the spacing after the run before it has ended") { fixture in
            try await fixture.open(.debounce(10, spacing: 100))
            try await fixture.submit("a")
            fixture.pass(10)
            #expect(try await fixture.work() == ["k trailing a"])
            #expect(try await fixture.submit("b").dueIn == .milliseconds(100))
            fixture.pass(99)
            #expect(try await fixture.submit("c").dueIn == .milliseconds(10))
            fixture.pass(9)
            #expect(try await fixture.work() == [])
            fixture.pass(1)
            #expect(try await fixture.work() == ["k trailing c ×2"])
        },
        ConformanceCase("the spacing of a key survives when the store is reopened") { fixture in
            try await fixture.open(.debounce(10, .both, spacing: 100))
            try await fixture.submit("a")
            #expect(try await fixture.work() == ["k leading a"])
            fixture.pass(50)
            let fixture = try await fixture.reopened()
            #expect(try await fixture.submit("b").dueIn == .milliseconds(50))
            await fixture.closeOther()
        },
        ConformanceCase("a key that is kept for its spacing alone is not listed, and is forgotten when it has passed") {
            fixture in
            try await fixture.open(.debounce(10, spacing: 100))
            try await fixture.submit("a")
            fixture.pass(10)
            #expect(try await fixture.list().count == 1)
            _ = try await fixture.work()
            #expect(try await fixture.list() == [])
            #expect(try await fixture.flush(nil) == 0)
            #expect(try await fixture.cancel(nil) == 0)
            fixture.pass(100)
            #expect(try await fixture.work() == [])
            #expect(try await fixture.answer().next == nil)
            #expect(try await fixture.submit("b").dueIn == .milliseconds(10))
        },
        ConformanceCase("what is full waits for the spacing, and stays full if the limit is raised") { fixture in
            try await fixture.open(.debounce(50, maxCount: 2, spacing: 100, .collect))
            try await fixture.submit("a")
            try await fixture.submit("b")
            #expect(try await fixture.work() == ["k maxCount a+b ×2"])
            try await fixture.submit("c")
            #expect(try await fixture.submit("d").dueIn == .milliseconds(100))
            try await fixture.change(.debounce(50, maxCount: 9, spacing: 100, .collect))
            #expect(try await fixture.submit("e").dueIn == .milliseconds(100))
            fixture.pass(100)
            #expect(try await fixture.work() == ["k maxCount c+d+e ×3"])
        },
        ConformanceCase("a flush counts for the spacing, a cancel does not") { fixture in
            try await fixture.open(.debounce(10, spacing: 100))
            try await fixture.submit("a")
            try await fixture.flush()
            #expect(try await fixture.work() == ["k flush a"])
            fixture.pass(30)
            try await fixture.submit("b")
            try await fixture.cancel()
            #expect(try await fixture.submit("c").dueIn == .milliseconds(70))
        },
        ConformanceCase("a changed spacing applies from the next submit on, and counts from the latest due instant") {
            fixture in
            try await fixture.open(.debounce(10, spacing: 100))
            try await fixture.submit("a")
            fixture.pass(10)
            _ = try await fixture.work()
            let waiting = try await fixture.submit("b")
            try await fixture.change(.debounce(10, spacing: 40))
            fixture.pass(40)
            #expect(try await fixture.state(waiting) == .pending)
            fixture.pass(1)
            #expect(try await fixture.submit("c").dueIn == .milliseconds(10))
            fixture.pass(10)
            #expect(try await fixture.work() == ["k trailing c ×2"])
        },
        ConformanceCase("attempts do not count for the spacing") { fixture in
            try await fixture.open(.debounce(0, spacing: 100))
            try await fixture.submit("a")
            let run = try await fixture.claimOne()
            #expect(try await fixture.fail(run, retry: 5) == .accepted)
            fixture.pass(5)
            #expect(try await fixture.claimOne().attempt == 2)
            #expect(try await fixture.submit("b").dueIn == .milliseconds(95))
        },
    ]
}
