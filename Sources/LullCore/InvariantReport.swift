/// Collects the rules that do not hold; for checks of invariants.
package struct InvariantReport {
    package var rules: [String] = []

    package init() {}

    package mutating func unless(_ holds: Bool, _ rule: @autoclosure () -> String) {
        if !holds { rules.append(rule()) }
    }
}
