internal import LullCore
internal import LullDurable

/// The limits of `lull status --fail-if`, such as `oldest>60s,dead>0`: a status above one of them fails the command.
struct StatusLimits {
    private var limits: [(name: String, most: Int64)] = []

    init(_ text: String) throws(Refusal) {
        for part in text.filter({ $0 != " " }).split(separator: ",", omittingEmptySubsequences: false) {
            let sides = part.split(separator: ">", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
            guard sides.count == 2 else {
                throw Refusal(reason: "\"\(part)\" has no >: write a limit such as oldest>60s or dead>0")
            }
            limits.append((sides[0], try Self.most(of: sides[0], sides[1])))
        }
    }

    private static func most(of name: String, _ text: String) throws(Refusal) -> Int64 {
        guard let figure = DurableStatus.columns.first(where: { $0.name == name }) else {
            let names = DurableStatus.columns.map(\.name)
            let list = names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
            throw Refusal(reason: "there is no figure \"\(name)\": it can be \(list)")
        }
        guard figure.unit == .duration else {
            guard let most = Int64(text), most >= 0, text.first != "+" else {
                throw Refusal(reason: "\(name) is compared with a whole number, not with \"\(text)\"")
            }
            return most
        }
        return try DurationText.read(text).nanoseconds
    }

    /// Returns a line for each limit that a namespace exceeds.
    func exceeded(by status: DurableStatus) -> [String] {
        limits.compactMap { name, most in
            guard let measure = status.measures.first(where: { $0.figure.name == name }),
                case .number(let number?) = measure.value, number > most
            else { return nil }
            let (shown, limit) = (measure.figure.shown(number), measure.figure.shown(most))
            return "the namespace \(Terminal.shown(status.namespace)): \(name) is \(shown), more than \(limit)"
        }
    }
}
