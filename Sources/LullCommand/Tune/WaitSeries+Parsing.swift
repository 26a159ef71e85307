internal import LullCore

// Parses the value of `--waits`.
extension WaitSeries {
    /// The reason why a text is no series of waits.
    enum Fault: Error, Equatable {
        case duration(String, DurationText.Fault)
        case backwards
        case zero
        case tooMany
    }

    /// Parses a range such as `50ms..5s`, or a list such as `100ms,300ms,1s`.
    static func parse(_ text: String) throws(Fault) -> [CoreDuration] {
        if let dots = ends(of: text) {
            let first = try duration(dots.first)
            let last = try duration(dots.last)
            guard first > .zero else { throw .zero }
            guard first <= last else { throw .backwards }
            return steps(from: first, to: last)
        }
        var waits: Set<CoreDuration> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            waits.insert(try duration(String(part)))
        }
        guard waits.count <= limit else { throw .tooMany }
        return waits.sorted()
    }

    private static func ends(of text: String) -> (first: String, last: String)? {
        let bytes = Array(text.utf8)
        let point = UInt8(ascii: ".")
        guard let dots = bytes.indices.dropLast().first(where: { bytes[$0] == point && bytes[$0 + 1] == point })
        else { return nil }
        return (
            String(decoding: bytes[..<dots], as: UTF8.self), String(decoding: bytes[(dots + 2)...], as: UTF8.self)
        )
    }

    private static func duration(_ text: String) throws(Fault) -> CoreDuration {
        do {
            return try DurationText.parse(text)
        } catch {
            throw .duration(text, error)
        }
    }
}

extension WaitSeries.Fault {
    /// The fault, for the end of a message.
    var explanation: String {
        switch self {
        case .duration(let text, let fault): "\"\(text)\" \(fault.explanation(of: text))"
        case .backwards: "the first of the two must be the shorter one"
        case .zero: "a range starts above zero: nothing is coalesced with a wait of zero"
        case .tooMany: "at most \(WaitSeries.limit) waits can be compared at once"
        }
    }
}
