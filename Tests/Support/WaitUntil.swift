import Foundation
public import Testing

/// What a test waited for has not come.
public struct NeverCame: Error {}

/// Waits until a condition holds: for a test that cannot be told when something has happened in another thread or
/// process. Only a hang reaches the limit, which is a failure.
public func waitUntil(
    atMost limit: Duration = .seconds(60), isolation: isolated (any Actor)? = #isolation,
    at location: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    while true {
        let start = ContinuousClock.now
        if try await condition() { return }
        let now = ContinuousClock.now
        guard now < end else { throw neverCame("a condition does not come true", location) }
        try await Task.sleep(for: pause(after: start.duration(to: now)))
    }
}

/// The same for a thread, which it blocks.
public func blockUntil(
    atMost limit: Duration = .seconds(60), at location: SourceLocation = #_sourceLocation,
    or complaint: @autoclosure () -> String = "a condition does not come true", _ condition: () throws -> Bool
) throws {
    let end = ContinuousClock.now + limit
    while true {
        let start = ContinuousClock.now
        if try condition() { return }
        let now = ContinuousClock.now
        guard now < end else { throw neverCame(complaint(), location) }
        Thread.sleep(forTimeInterval: pause(after: start.duration(to: now)) / .seconds(1))
    }
}

/// As long as it takes to look, so that looking leaves the others half of the time.
private func pause(after look: Duration) -> Duration { min(max(look, .milliseconds(1)), .milliseconds(50)) }

/// The same as a command of a shell. Its own `wait` may wait forever: the signal that a child has ended may be blocked.
func waitInShell(_ condition: String) -> String { "until \(condition); do sleep 0.02; done" }

private func neverCame(_ complaint: String, _ location: SourceLocation) -> NeverCame {
    Issue.record("\(complaint)", sourceLocation: location)
    return NeverCame()
}

/// Lets other tasks come to where they wait: for a test that shows more if they have, and passes if they have not.
public func letOthersRun() async { for _ in 0..<1000 { await Task.yield() } }
