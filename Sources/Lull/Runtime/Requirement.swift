/// Stops the program with a message if a setting in its code breaks a rule (<doc:Semantics>, section 10).
///
/// A precondition has no message in an optimised build.
package func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition { refuse(message()) }
}

/// Stops the program with a message: a setting in its code breaks a rule, or a use of Lull would hang.
package func refuse(_ message: String) -> Never {
    // Right here: the program cannot go on, and only this prints its message in an optimised build.
    fatalError("Lull: \(message)")
}
