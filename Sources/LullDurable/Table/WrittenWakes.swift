package import LullCore

/// What a step has written that concerns workers.
package struct WrittenWakes: Sendable {
    /// The earliest `wake` in each namespace.
    var earliest: [String: CoreInstant] = [:]
    /// The namespaces in which runs may have been interrupted.
    var interrupted: Set<String> = []

    package init() {}

    package var isEmpty: Bool { earliest.isEmpty && interrupted.isEmpty }

    /// Notes a `wake` that was written.
    package mutating func note(_ wake: CoreInstant, in namespace: DurableNamespace) {
        earliest[namespace.name] = min(wake, earliest[namespace.name] ?? .farFuture)
    }

    /// Notes that workers have to look at their runs.
    package mutating func noteInterruption(in namespace: DurableNamespace) { interrupted.insert(namespace.name) }
}
