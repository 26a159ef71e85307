/// Stops the program with a message unless a setting in its code is right (<doc:Semantics>, section 10).
///
/// A precondition would do, but says nothing in an optimised build, where the message is needed most.
package func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition { refuse(message()) }
}

/// Stops the program with a message: a setting in its code breaks a rule, or it is used in a way that would hang.
package func refuse(_ message: String) -> Never {
    // Right here: nothing can go on, and only this prints its message in an optimised build as well.
    fatalError("Lull: \(message)")
}
