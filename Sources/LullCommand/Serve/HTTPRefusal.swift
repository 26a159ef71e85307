internal import LullHTTP
internal import LullInspection

/// Why a request is refused: a status and a sentence.
struct HTTPRefusal: Error, Sendable {
    let status: Int
    let reason: String
    var fields: [(name: String, value: String)] = []
    /// Whether what was asked for may have been done: the same request, with the same token, can be repeated.
    var isUnknown = false
}

extension HTTPRequest {
    /// Throws if the method is none of those that its path takes.
    func check(method allowed: [String]) throws(HTTPRefusal) {
        if allowed.contains(method) { return }
        throw HTTPRefusal(
            status: 405, reason: "\(path) takes \(allowed.joined(separator: " and ")), not \(method)",
            fields: [("Allow", allowed.joined(separator: ", "))])
    }

    /// Says that its path leads nowhere.
    var isForNothing: HTTPRefusal {
        HTTPRefusal(status: 404, reason: "there is nothing at \(Terminal.shown(path))")
    }
}

extension HTTPAnswer {
    static func json(_ status: Int, _ json: JSONValue, _ fields: [(name: String, value: String)] = []) -> HTTPAnswer {
        HTTPAnswer(status, "application/json", json.line, [("Cache-Control", "no-store")] + fields)
    }

    static func refusal(_ refusal: HTTPRefusal) -> HTTPAnswer {
        let unknown: [(String, JSONValue)] = refusal.isUnknown ? [("unknown", .bool(true))] : []
        return .json(refusal.status, .object([("error", .text(refusal.reason))] + unknown), refusal.fields)
    }
}
