/// What opening a namespace with a policy comes to: the one rule of all stores.
package struct PolicyOpening: Hashable, Sendable {
    /// The rules that hold for all processes from now on.
    package let rules: DurableRules
    /// The rules that they replace; nil if the namespace is new or has the same.
    package let replaced: DurableRules?
    /// Whether the namespace is new.
    package let isNew: Bool

    /// Whether the store has to write the rules.
    package var isWritten: Bool { isNew || replaced != nil }

    /// Decides about a namespace that is being opened. A store writes the outcome in the same step, or only if the
    /// namespace still has the stored rules.
    ///
    /// - Parameters:
    ///   - name: The name of the namespace.
    ///   - given: The requested rules; nil for the stored ones.
    ///   - stored: The stored rules; nil if the namespace is new.
    ///   - changingPolicy: Whether other durations and counts replace the stored ones, for all processes.
    package init(
        of name: String, with given: DurableRules?, stored: DurableRules?, changingPolicy: Bool
    ) throws(DurableError) {
        guard let rules = given ?? stored else { throw .noPolicy(namespace: name) }
        if let stored, stored != rules, !changingPolicy || !stored.canChange(to: rules) {
            throw .otherPolicy(namespace: name, stored: stored, given: rules)
        }
        self.rules = rules
        replaced = stored == rules ? nil : stored
        isNew = stored == nil
    }

    /// The line for a log that tells of the change, in words like the error's; nil if there was none.
    func line(of name: String) -> String? {
        guard let replaced else { return nil }
        return "the policy of the namespace \(name) was changed for all that use it: "
            + replaced.differences(from: rules, "now")
    }
}
