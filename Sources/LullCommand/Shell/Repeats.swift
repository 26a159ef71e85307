internal import LullCore

/// Messages that come again and again: of each kind one a minute is told, the others are counted.
struct Repeats {
    private struct Kind {
        /// What to say of the count, such as "records skipped: over --max-keys".
        let name: String
        var count = 0
        /// The count that was told last, counting what was told by itself.
        var told = 0
        var next = CoreInstant.farPast
    }

    private static let pause = CoreDuration.seconds(60)

    private var kinds: [Kind] = []

    /// Counts a message, and tells it if its kind has not been heard of for a while.
    ///
    /// - Parameter kind: The kind, as what is said of many.
    mutating func report(
        _ message: @autoclosure () -> String, of kind: String, at now: CoreInstant, to log: inout Outlet
    ) {
        // There are a handful.
        let place =
            kinds.firstIndex { $0.name == kind }
            ?? {
                kinds.append(Kind(name: kind))
                return kinds.count - 1
            }()
        kinds[place].count += 1
        guard kinds[place].next <= now else { return }
        kinds[place].next = now.advanced(by: Self.pause)
        if kinds[place].count == kinds[place].told + 1 {
            log.report(message())
        } else {
            log.report(Self.line(kinds[place]))
        }
        kinds[place].told = kinds[place].count
    }

    /// Tells what was counted since it was told last.
    mutating func tellCounts(to log: inout Outlet) {
        for place in kinds.indices where kinds[place].told < kinds[place].count {
            log.report(Self.line(kinds[place]))
            kinds[place].told = kinds[place].count
        }
    }

    private static func line(_ kind: Kind) -> String { "\(grouped(kind.count)) \(kind.name)" }

    /// A number with its digits in groups of three: `999,000`.
    private static func grouped(_ number: Int) -> String {
        var text = String(number)
        var place = text.count - 3
        while place > 0 {
            text.insert(",", at: text.index(text.startIndex, offsetBy: place))
            place -= 3
        }
        return text
    }
}
