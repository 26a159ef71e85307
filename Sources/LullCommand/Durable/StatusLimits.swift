internal import Lull
internal import LullCore
internal import LullDurable

/// The limits of `lull status --fail-if`, such as `oldest>60s,dead>0`: a status above one of them fails the command.
struct StatusLimits {
    private enum Limit {
        case count(@Sendable (DurableStatus) -> Int, Int)
        case age(CoreDuration)
    }

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
        if name == DurableStatus.oldest {
            do {
                return .age(try DurationText.parse(text))
            } catch {
                throw Fault(explanation: "\"\(text)\" \(error.explanation(of: text))")
            }
        }
        guard let count = DurableStatus.counts.first(where: { $0.name == name })?.count else {
            let names = DurableStatus.counts.map(\.name).joined(separator: ", ")
            throw Fault(explanation: "there is no figure \"\(name)\": it can be \(names) or \(DurableStatus.oldest)")
        }
        guard let most = Int(text), most >= 0, text.first != "+" else {
            throw Fault(explanation: "\(name) is compared with a whole number, not with \"\(text)\"")
        }
        return .count(count, most)
    }

    /// Returns a line for each limit that a namespace exceeds.
    func exceeded(by status: DurableStatus) -> [String] {
        limits.compactMap { name, limit in
            let (figure, bound): (String, String)
            switch limit {
            case .count(let count, let most):
                let number = count(status)
                guard number > most else { return nil }
                (figure, bound) = ("\(number)", "\(most)")
            case .age(let most):
                guard let age = status.oldestDue.map({ CoreDuration($0) }), age > most else { return nil }
                (figure, bound) = (DurationText.rounded(age.nanoseconds), DurationText.rounded(most.nanoseconds))
            }
            return "the namespace \(Terminal.shown(status.namespace)): \(name) is \(figure), more than \(bound)"
        }
    }
}
