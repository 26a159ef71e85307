/// The place in the program where a debouncer or throttler is made.
package struct SourceSite: Sendable, CustomStringConvertible {
    package let fileID: StaticString
    package let line: UInt

    package init(_ fileID: StaticString, _ line: UInt) {
        self.fileID = fileID
        self.line = line
    }

    package var description: String { "\(fileID):\(line)" }
}

/// Stops the program with a message if a setting in its code breaks a rule (<doc:Semantics>, section 10).
///
/// A precondition has no message in an optimised build.
///
/// - Parameter site: The place in the program that the message names.
package func require(_ condition: Bool, _ message: @autoclosure () -> String, at site: SourceSite) {
    if !condition { refuse(message(), at: site) }
}

/// Stops the program with a message: a setting in its code breaks a rule, or a use of Lull would hang.
package func refuse(_ message: String, at site: SourceSite) -> Never {
    // Right here: the program cannot go on, and only this prints its message in an optimised build.
    fatalError("Lull: \(message)", file: site.fileID, line: site.line)
}

/// Stops the program with a message if a condition is broken for which no place in the program is known.
package func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition { refuse(message()) }
}

/// Stops the program with a message where no place in the program is known.
package func refuse(_ message: String) -> Never { fatalError("Lull: \(message)") }
