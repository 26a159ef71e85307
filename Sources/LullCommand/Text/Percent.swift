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
