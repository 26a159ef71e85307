internal import CLullCommand
internal import Foundation
internal import LullHTTP

/// A path at which another service delivers events: `--hooks FILE`.
struct Hook: Sendable {
    let path: String
    let namespace: String
    /// Where the key is in the body; nil if all events have the key that the path is named for.
    let key: JSONPointer?
    let verification: HookVerification
    let secret: [UInt8]

    /// Paths that have a meaning of their own.
    private static let reserved = ["/v1/", "/api/", HTTPPage.folder, "/metrics", "/health"]
    private static let members: Set = ["namespace", "key", "verify", "secret-file", "secret-env"]

    /// Reads a file of hooks: a JSON object with an object for each path.
    static func read(_ file: Argument) throws(Failure) -> [Hook] {
        let name = String(cString: file)
        let bytes = try ConfigurationFile.read(file, isSecret: false)
        do throws(JSONScanner.Fault) { _ = try bytes.withUnsafeBufferPointer(JSONScanner.whole) } catch {
            throw .badData("\(name) is not JSON: \(error)")
        }
        guard let table = try? JSONDecoder().decode([String: [String: String]].self, from: Data(bytes)) else {
            throw .badData("\(name) must have an object for each path, whose members are strings")
        }
        if table.isEmpty { throw .badData("\(name) has no hook") }
        var hooks: [Hook] = []
        for (path, members) in table.sorted(by: { $0.key < $1.key }) {
            do throws(Failure) { hooks.append(try Hook(path, members)) } catch { throw error.of("\(name), \(path)") }
        }
        return hooks
    }

    private init(_ path: String, _ members: [String: String]) throws(Failure) {
        guard path.hasPrefix("/"), path.count > 1 else { throw .badData("the path must begin with / and have a name") }
        if let taken = Self.reserved.first(where: { (path + "/").hasPrefix($0) || path == $0 }) {
            throw .badData("paths under \(taken) have another meaning")
        }
        if let unknown = members.keys.sorted().first(where: { !Self.members.contains($0) }) {
            throw .badData(
                "there is no member \"\(unknown)\": it can have \(Self.members.sorted().joined(separator: ", "))")
        }
        guard let namespace = members["namespace"], !namespace.isEmpty else {
            throw .badData("the namespace is missing")
        }
        let names = HookVerification.allCases.map(\.rawValue).joined(separator: ", ")
        guard let verify = members["verify"] else { throw .badData("verify is missing: one of \(names)") }
        guard let verification = HookVerification(rawValue: verify) else {
            throw .badData("verify must be one of \(names), not \"\(verify)\"")
        }
        var key: JSONPointer?
        if let text = members["key"] {
            // It would be the whole body, of which no two are the same.
            if text.isEmpty {
                throw .badData(
                    "key is empty: leave it out, and all events have one key, or name a place such as /repository/id")
            }
            key = JSONPointer(Array(text.utf8))
            if key == nil { throw .badData("key must be a JSON pointer such as /repository/id, not \"\(text)\"") }
        }
        (self.path, self.namespace, self.key, self.verification) = (path, namespace, key, verification)
        secret = try verification.key(of: Self.secret(members, verification))
    }

    /// Reads the secret from where the members say.
    private static func secret(
        _ members: [String: String], _ verification: HookVerification
    ) throws(Failure) -> [UInt8] {
        let (file, variable) = (members["secret-file"], members["secret-env"])
        if verification == .none {
            if file ?? variable != nil { throw .badData("verify none needs no secret") }
            return []
        }
        switch (file, variable) {
        case (let file?, nil):
            // The name lives until the program ends, as those of arguments do.
            guard let path = strdup(file) else { throw .failed("there is no memory left") }
            return try ConfigurationFile.secret(path)
        case (nil, let variable?):
            guard let value = getenv(variable), value.pointee != 0 else {
                throw .badData("the environment has no variable \(variable)")
            }
            return Array(String(cString: value).utf8)
        default: throw .badData("give the secret's place: secret-file or secret-env")
        }
    }

    /// Returns the key of an event.
    func key(of body: [UInt8]) throws(HTTPRefusal) -> [UInt8] {
        guard let key else { return Array(path.utf8) }
        let rule = KeyRule.part(.json(key))
        let found: [UInt8]
        do throws(RecordFault) {
            found = rule.plain(
                try body.withUnsafeBufferPointer { body throws(RecordFault) in try rule.key(of: body) })
        } catch {
            throw HTTPRefusal(status: 400, reason: "the body has no key: \(error.reason)")
        }
        if found.isEmpty { throw HTTPRefusal(status: 400, reason: "the key in the body is empty") }
        return found
    }

    /// Returns the name that the sender has given to the event, so that one that is delivered twice counts once.
    func token(of request: HTTPRequest) throws(HTTPRefusal) -> String? {
        let name =
            switch verification {
            case .github: request.field("X-GitHub-Delivery")
            case .stripe: text(at: "/id", in: request.body)
            case .slack: text(at: "/event_id", in: request.body)
            case .standardWebhooks: request.field("webhook-id")
            case .bearer, .none: try SubmitEndpoint.token(request)
            }
        return name.map { "\(path) \($0)" }
    }

    /// Returns what Slack wants to hear of an address that it tries out; nil for an event.
    func challenge(of request: HTTPRequest) -> String? {
        guard verification == .slack, text(at: "/type", in: request.body) == "url_verification" else { return nil }
        return text(at: "/challenge", in: request.body)
    }

    private func text(at pointer: String, in body: [UInt8]) -> String? {
        guard let pointer = JSONPointer(Array(pointer.utf8)) else { return nil }
        return body.withUnsafeBufferPointer { body in
            (try? pointer.find(in: body)).flatMap { $0 }.flatMap(JSONText.string)
        }
    }
}
