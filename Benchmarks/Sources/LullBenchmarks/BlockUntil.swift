import Foundation

/// What was waited for has not come.
struct NeverCame: Error, CustomStringConvertible {
    let description: String
}

/// Blocks until a condition holds: what the tests have under this name, for the servers that both start.
func blockUntil(or complaint: @autoclosure () -> String, _ condition: () throws -> Bool) throws {
    let end = ContinuousClock.now + .seconds(60)
    while try !condition() {
        guard ContinuousClock.now < end else { throw NeverCame(description: complaint()) }
        usleep(1000)
    }
}

/// The same as a command of a shell, as in `WaitUntil.swift` of the tests.
func waitInShell(_ condition: String) -> String { "until \(condition); do sleep 0.02; done" }
