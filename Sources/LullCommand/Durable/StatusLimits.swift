internal import Lull
internal import LullCore
internal import LullDurable

/// The limits of `lull status --fail-if`, such as `oldest>60s,dead>0`: a status above one of them fails the command.
struct StatusLimits {
    private enum Limit {
        case count(Int)
        case duration(CoreDuration)
    }

    /// The names of the table's columns.
    private static let counts: [(name: String, count: @Sendable (DurableStatus) -> Int)] = [
        ("pending", { $0.pending }), ("ready", { $0.ready }), ("running", { $0.running }),
        ("retrying", { $0.retrying }), ("dead", { $0.dead }),
    ]
    private static let oldest = "oldest"

    /// Why a text gives no limits.
    struct Fault: Error {
        let explanation: String
    }

    private var limits: [(name: String, limit: Limit)] = []

    init(_ text: String) throws(Fault) {
        for part in text.filter({ $0 != " " }).split(separator: ",", omittingEmptySubsequences: false) {
            let sides = part.split(separator: ">", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
            guard sides.count == 2 else {
                throw Fault(explanation: "\"\(part)\" has no >: write a limit such as oldest>60s or dead>0")
            }
            limits.append((sides[0], try Self.limit(of: sides[0], sides[1])))
        }
    }

    private static func limit(of name: String, _ text: String) throws(Fault) -> Limit {
        if name == oldest {
            do {
                return .duration(try DurationText.parse(text))
            } catch {
                throw Fault(explanation: "\"\(text)\" \(error.explanation(of: text))")
            }
        }
        guard counts.contains(where: { $0.name == name }) else {
            let names = counts.map(\.name).joined(separator: ", ")
            throw Fault(explanation: "there is no figure \"\(name)\": it can be \(names) or \(oldest)")
        }
        guard let count = Int(text), count >= 0, text.first != "+" else {
            throw Fault(explanation: "\(name) is compared with a whole number, not with \"\(text)\"")
        }
        return .count(count)
    }

    /// Returns a line for each limit that a namespace exceeds.
    func exceeded(by status: DurableStatus) -> [String] {
        limits.compactMap { name, limit in
            let (figure, bound): (String, String)
            switch limit {
            case .count(let most):
                guard let count = Self.counts.first(where: { $0.name == name })?.count(status),
                    count > most
                else { return nil }
                (figure, bound) = ("\(count)", "\(most)")
            case .duration(let most):
                guard let age = status.oldestDue.map({ CoreDuration($0) }), age > most else { return nil }
                (figure, bound) = (DurationText.rounded(age.nanoseconds), DurationText.rounded(most.nanoseconds))
            }
            return "the namespace \(Terminal.shown(status.namespace)): \(name) is \(figure), more than \(bound)"
        }
    }
}
