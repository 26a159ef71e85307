/// Shares in percent.
enum Percent {
    /// Returns a share between 0 and 1 with one digit after the point: `77.3 %`.
    static func shown(_ share: Double) -> String {
        let tenths = Int(share * 1000 + 0.5)
        return "\(tenths / 10).\(tenths % 10) %"
    }

    /// Parses `90%` or `97.5%`; returns nil for anything else.
    static func parse(_ text: String) -> Double? {
        guard text.last == "%", let number = Double(text.dropLast()), (0...100).contains(number) else { return nil }
        return number / 100
    }
}

/// Returns a number with its noun: `1 key`, `2 keys`.
func counted(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

/// Returns `1.5 MB`, rounded up so that only nothing is shown as nothing.
func megabytes(_ bytes: Int64) -> String {
    let tenths = (bytes + 99_999) / 100_000
    return "\(tenths / 10).\(tenths % 10) MB"
}
