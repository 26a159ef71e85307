internal import LullCore

/// Limits repeated messages: logs one of each kind a minute, and counts the others.
struct MessageLimiter {
    private struct Kind {
        /// Follows the count in a message, such as "records skipped: over --max-keys".
        let name: String
        var count = 0
        /// The count as of the latest message, the messages logged singly included.
        var reported = 0
        var next = CoreInstant.farPast
    }

    private static let interval = CoreDuration.seconds(60)

    /// A handful, in order of their first messages.
    private var kinds: [Kind] = []

    /// Counts a message, and logs it unless one of its kind was logged within the last minute.
    ///
    /// - Parameter kind: The kind, as it follows a count.
    mutating func report(
        _ message: @autoclosure () -> String, of kind: String, at now: CoreInstant, to log: inout OutputBuffer
    ) {
        let index = kinds.firstIndex { $0.name == kind } ?? kinds.count
        if index == kinds.count { kinds.append(Kind(name: kind)) }
        kinds[index].count += 1
        guard kinds[index].next <= now else { return }
        kinds[index].next = now.advanced(by: Self.interval)
        if kinds[index].count == kinds[index].reported + 1 {
            log.report(message())
        } else {
            log.report(Self.line(kinds[index]))
        }
        kinds[index].reported = kinds[index].count
    }

    /// Logs the count of each kind that has grown since it was logged.
    mutating func reportCounts(to log: inout OutputBuffer) {
        for index in kinds.indices where kinds[index].reported < kinds[index].count {
            log.report(Self.line(kinds[index]))
            kinds[index].reported = kinds[index].count
        }
    }

    private static func line(_ kind: Kind) -> String { "\(grouped(kind.count)) \(kind.name)" }

    /// Returns a number with its digits in groups of three: `999,000`.
    private static func grouped(_ number: Int) -> String {
        var text = String(number)
        for offset in stride(from: text.count - 3, to: 0, by: -3) {
            text.insert(",", at: text.index(text.startIndex, offsetBy: offset))
        }
        return text
    }
}
