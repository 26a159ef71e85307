internal import CLullCommand
internal import LullCore
internal import LullDurable

/// What a command of a store says about its run: by its exit status, or by a line on descriptor 3.
///
/// The last line there counts, and counts more than the status:
///
/// | line | meaning |
/// |---|---|
/// | `retry-after: 30s` | it has failed, and is to be tried again after that time |
/// | `snooze: 5m` | it is to be run again after that time, and no attempt is spent |
struct CommandAnswer {
    /// The exit statuses that say something, each off with nil.
    struct Statuses {
        /// Run it again after the backoff of the attempt, which is not spent: `EX_TEMPFAIL`.
        var snooze: Int32? = 75
        /// Do not try it again: `EX_DATAERR`.
        var giveUp: Int32? = 65

        /// Returns what a command has said by its status, or nil if that says nothing more.
        func handlerEnd(_ status: Int32, error: String) -> HandlerEnd? {
            switch status {
            case snooze: .snoozed(for: nil)
            case giveUp: .gaveUp(error)
            default: nil
            }
        }
    }

    /// The descriptor on which a command writes lines.
    static let descriptor: Int32 = 3
    /// The most that is kept of them, in bytes.
    private static let limit = 4096

    private var end: [UInt8] = []

    var isEmpty: Bool { end.isEmpty }

    mutating func append(_ bytes: ArraySlice<UInt8>) {
        end += bytes.suffix(Self.limit)
        if end.count > Self.limit { end.removeFirst(end.count - Self.limit) }
    }

    /// Returns what the command has said by a line, or nil if it has written none.
    ///
    /// - Parameter error: What to keep of its failure.
    /// - Throws: Why the line says nothing.
    func handlerEnd(error: String) throws(Refusal) -> HandlerEnd? {
        if let line { try Self.read(line, error) } else { nil }
    }

    /// The last line with any text.
    private var line: String? {
        end.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.reversed().lazy
            .map { Terminal.plain(String(decoding: $0, as: UTF8.self)) }.first { !$0.allSatisfy(\.isWhitespace) }
    }

    private static func read(_ line: String, _ error: String) throws(Refusal) -> HandlerEnd {
        let parts = line.split(separator: ":", maxSplits: 1).map { $0.drop(while: \.isWhitespace) }
        var value = parts.count == 2 ? parts[1] : ""
        while value.last?.isWhitespace == true { value.removeLast() }
        switch parts.first {
        case "retry-after": return .retry(after: try DurationText.read(String(value)), error)
        case "snooze": return .snoozed(for: try DurationText.read(String(value)))
        default: throw Refusal(reason: "a line is \"retry-after: 30s\" or \"snooze: 5m\"")
        }
    }
}
