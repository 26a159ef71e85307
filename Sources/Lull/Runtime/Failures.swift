#if canImport(os)
    internal import os
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif
public import LullCore

/// The type of the key in the events and recordings of a debouncer or throttler without keys. Nothing takes one.
@frozen
public struct NoKey: Hashable, Sendable {
    @inlinable
    init() {}
}

/// Names a key in a message.
@usableFromInline
func describe(_ key: some Any, of value: Any.Type) -> String {
    key is NoKey ? "the only key, of values of type \(value)" : "key \(key)"
}

/// The work of an execution, for a clock that keeps track of it.
@usableFromInline
func makeWork<Key: Sendable>(of value: any Sendable.Type, run: RunID, debouncer: UInt64, key: Key) -> Work {
    Work(handling: run, of: debouncer) { describe(key, of: value) }
}

/// Where a debouncer or throttler is made in the source code.
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

/// Says that an execution has failed, for those who have not said what is to be done then.
@usableFromInline
func reportFailure(_ error: any Error, of key: String, _ kind: Policy.Kind, madeAt site: SourceSite) {
    let name = kind == .debounce ? "debouncer" : "throttler"
    logLine("Lull: an execution failed (\(key), \(name) made at \(site)): \(error)")
}

/// Says something to whoever runs the program.
package func logLine(_ line: String) {
    #if canImport(os)
        Logger(subsystem: "lull", category: "executions").error("\(line)")
    #else
        // One write, so that lines of several threads do not mix.
        _ = Array((line + "\n").utf8).withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
    #endif
}
