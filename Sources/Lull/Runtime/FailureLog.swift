#if canImport(os)
    internal import os
#endif
internal import LullCore

/// A function that is called when a handler throws, on the actor of the closure.
package typealias FailureHandler<Key> = @Sendable @isolated(any) (any Error, Key) async -> Void

/// Adapts a failure handler to a key that it does not take.
func ignoringKey(_ onFailure: (@Sendable @isolated(any) (any Error) async -> Void)?) -> FailureHandler<NoKey>? {
    guard let onFailure else { return nil }
    return { error, _ in await onFailure(error) }
}

/// Logs that an execution has failed, where the program has no `onFailure`.
func logFailure(_ error: any Error, of key: String, _ kind: Policy.Kind, madeAt site: SourceSite) {
    let name = name(of: kind)
    #if canImport(os)
        // Keys and errors may hold what belongs to a user. The log shows them to a debugger, and as <private>
        // otherwise; the place and the kind of the error say where to look.
        logger.error(
            """
            Lull: an execution failed (\(key, privacy: .private), \(name, privacy: .public) made at \
            \(site.description, privacy: .public)): \(String(describing: type(of: error)), privacy: .public): \
            \(String(describing: error), privacy: .private)
            """)
    #else
        logLine("Lull: an execution failed (\(key), \(name) made at \(site)): \(error)", kind: "an execution failed")
    #endif
}

/// Logs that a handler goes on after its time limit, where nobody observes it.
func logOverdue(
    _ key: String, _ kind: Policy.Kind, madeAt site: SourceSite, limit: Duration, isSynchronous: Bool
) {
    let time = "\(isSynchronous ? "" : "twice ")its time limit of \(limit.text)"
    let name = name(of: kind)
    #if canImport(os)
        logger.error(
            """
            Lull: the handler of \(key, privacy: .private), \(name, privacy: .public) made at \
            \(site.description, privacy: .public), has run for more than \(time, privacy: .public)
            """)
    #else
        logLine(
            "Lull: the handler of \(key), \(name) made at \(site), has run for more than \(time)",
            kind: "a handler has run for too long")
    #endif
}

/// Returns what a message calls a debouncer or a throttler.
func name(of kind: Policy.Kind) -> String { kind == .debounce ? "debouncer" : "throttler" }

#if canImport(os)
    private let logger = Logger(subsystem: "lull", category: "executions")
#endif

/// Writes a line to the system's log, or to standard error.
///
/// - Parameter kind: What happened, without keys and values: the system's log shows it to everybody, and the line to
///   the developer.
package func logLine(_ line: String, kind: String) {
    #if canImport(os)
        logger.error("Lull: \(kind, privacy: .public): \(line, privacy: .private)")
    #else
        writeToStandardError(line)
    #endif
}
