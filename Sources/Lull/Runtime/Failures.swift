#if canImport(os)
    internal import os
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif
public import LullCore

/// The key type of a debouncer or throttler without keys, in its events and recordings. No call takes one.
@frozen
public struct NoKey: Hashable, Sendable {
    @inlinable
    init() {}
}

/// Returns what a message calls a key.
@usableFromInline
func describe(_ key: some Any, of value: Any.Type) -> String {
    key is NoKey ? "the only key, of values of type \(value)" : "key \(key)"
}

/// Makes the work of an execution, for a clock that tracks it.
@usableFromInline
func makeWork<Key: Sendable>(of value: any Sendable.Type, run: RunID, debouncer: UInt64, key: Key) -> Work {
    Work(handling: run, of: debouncer) { describe(key, of: value) }
}

/// The place in the program where a debouncer or throttler is made.
@usableFromInline
struct SourceSite: Sendable, CustomStringConvertible {
    private let fileID: StaticString
    private let line: UInt

    init(_ fileID: StaticString, _ line: UInt) {
        self.fileID = fileID
        self.line = line
    }

    @usableFromInline var description: String { "\(fileID):\(line)" }
}

/// Logs that an execution has failed, where the program has no `onFailure`.
@usableFromInline
func logFailure(_ error: any Error, of key: String, _ kind: Policy.Kind, madeAt site: SourceSite) {
    let name = kind == .debounce ? "debouncer" : "throttler"
    logLine("Lull: an execution failed (\(key), \(name) made at \(site)): \(error)")
}

/// Writes a line to the system's log, or to standard error.
package func logLine(_ line: String) {
    #if canImport(os)
        Logger(subsystem: "lull", category: "executions").error("\(line)")
    #else
        // One write, so that lines of several threads do not mix.
        _ = Array((line + "\n").utf8).withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
    #endif
}
