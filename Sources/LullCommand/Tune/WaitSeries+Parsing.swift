internal import LullCore

// Parses the value of `--waits`.
extension WaitSeries {
    /// Parses a range such as `50ms..5s`, or a list such as `100ms,300ms,1s`.
    static func parse(_ text: String) throws(Refusal) -> [CoreDuration] {
        if let dots = text.firstRange(of: "..") {
            let first = try DurationText.read(String(text[..<dots.lowerBound]))
            let last = try DurationText.read(String(text[dots.upperBound...]))
            guard first > .zero else {
                throw Refusal(reason: "a range starts above zero: nothing is coalesced with a wait of zero")
            }
            guard first <= last else { throw Refusal(reason: "the first of the two must be the shorter one") }
            return steps(from: first, to: last)
        }
        var waits: Set<CoreDuration> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            waits.insert(try DurationText.read(String(part)))
        }
        guard waits.count <= limit else {
            throw Refusal(reason: "at most \(limit) waits can be compared at once")
        }
        return waits.sorted()
    }
}
