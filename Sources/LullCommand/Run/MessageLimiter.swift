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
        _ message: @autoclosure () -> String, of kind: String, at now: CoreInstant, to log: inout [UInt8]
    ) {
        let index = kinds.firstIndex { $0.name == kind } ?? kinds.count
        if index == kinds.count { kinds.append(Kind(name: kind)) }
        kinds[index].count += 1
        guard kinds[index].next <= now else { return }
        kinds[index].next = now.advanced(by: Self.interval)
        if kinds[index].count == kinds[index].reported + 1 {
            log.append(message: message())
        } else {
            log.append(message: Self.line(kinds[index]))
        }
        kinds[index].reported = kinds[index].count
    }

    /// Logs the count of each kind that has grown since it was logged.
    mutating func reportCounts(to log: inout [UInt8]) {
        for index in kinds.indices where kinds[index].reported < kinds[index].count {
            log.append(message: Self.line(kinds[index]))
            kinds[index].reported = kinds[index].count
        }
    }

    /// The count with its digits in groups of three: `999,000 records skipped`.
    private static func line(_ kind: Kind) -> String {
        let digits = String(kind.count).reversed().enumerated().map { $0 > 0 && $0 % 3 == 0 ? "\($1)," : "\($1)" }
        return digits.reversed().joined() + " \(kind.name)"
    }
}
