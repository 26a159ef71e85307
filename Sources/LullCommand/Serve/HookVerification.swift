internal import Foundation
internal import Lull
internal import LullHTTP

/// How a service proves that an event comes from it.
enum HookVerification: String, CaseIterable, Sendable {
    /// `X-Hub-Signature-256`.
    case github
    /// `Stripe-Signature`.
    case stripe
    /// `X-Slack-Signature`.
    case slack
    /// `webhook-signature`, as standardwebhooks.com describes it.
    case standardWebhooks = "standard-webhooks"
    /// `Authorization: Bearer SECRET`.
    case bearer
    case none

    /// How far the time of an event may be from the clock here, in seconds, as the services recommend.
    static let tolerance: Int64 = 300

    /// Returns the key of the signatures, of a secret as the service shows it.
    func key(of secret: [UInt8]) throws(Failure) -> [UInt8] {
        guard self == .standardWebhooks else { return secret }
        let prefix = Array("whsec_".utf8)
        let text = secret.starts(with: prefix) ? Array(secret.dropFirst(prefix.count)) : secret
        guard let key = Data(base64Encoded: Data(text)), !key.isEmpty else {
            throw .badData("the secret of standard-webhooks must be base64, perhaps after whsec_")
        }
        return Array(key)
    }

    /// Throws unless a request has been signed with a key, not long ago.
    ///
    /// - Parameter now: Seconds since 1970.
    func check(_ request: HTTPRequest, key: [UInt8], at now: Int64) throws(HTTPRefusal) {
        switch self {
        case .none: return
        case .bearer:
            guard let token = request.bearer, HTTPLibrary.isSame(token, key) else {
                throw Self.refusal("the token in Authorization is missing or wrong")
            }
        case .github:
            let signature = request.field("X-Hub-Signature-256") ?? ""
            try Self.check([Self.hex(after: "sha256=", signature)], of: request.body, key)
        case .stripe:
            let parts = (request.field("Stripe-Signature") ?? "").split(separator: ",")
            let time = parts.first { $0.hasPrefix("t=") }?.dropFirst(2) ?? ""
            try Self.check(time, now)
            // Signatures of other schemes, and of a secret that is being replaced, stand beside it.
            try Self.check(
                parts.map { Self.hex(after: "v1=", String($0)) }, of: Array("\(time).".utf8) + request.body, key)
        case .slack:
            let time = request.field("X-Slack-Request-Timestamp") ?? ""
            try Self.check(time[...], now)
            let signature = request.field("X-Slack-Signature") ?? ""
            try Self.check([Self.hex(after: "v0=", signature)], of: Array("v0:\(time):".utf8) + request.body, key)
        case .standardWebhooks:
            let (name, time) = (request.field("webhook-id") ?? "", request.field("webhook-timestamp") ?? "")
            try Self.check(time[...], now)
            let signatures = (request.field("webhook-signature") ?? "").split(separator: " ")
            try Self.check(
                signatures.map {
                    $0.hasPrefix("v1,") ? Data(base64Encoded: String($0.dropFirst(3))).map { Array($0) } : nil
                },
                of: Array("\(name).\(time).".utf8) + request.body, key)
        }
    }

    private static func refusal(_ reason: String) -> HTTPRefusal { HTTPRefusal(status: 401, reason: reason) }

    /// Throws unless one of some signatures is that of the bytes.
    private static func check(_ signatures: [[UInt8]?], of bytes: [UInt8], _ key: [UInt8]) throws(HTTPRefusal) {
        let given = signatures.compactMap(\.self)
        if given.isEmpty { throw refusal("the signature is missing, or has another form") }
        let right = HTTPLibrary.hmac(of: bytes, key: key)
        // Not lazily: the time must not say which one was compared.
        let matches = given.filter { HTTPLibrary.isSame($0, right) }
        if matches.isEmpty { throw refusal("the signature does not match: the secret or the body is another one") }
    }

    /// Throws unless a time in seconds since 1970 is near.
    private static func check(_ text: Substring, _ now: Int64) throws(HTTPRefusal) {
        guard let time = Int64(text) else { throw refusal("the time stamp is missing, or no number") }
        let (distance, overflow) = now.subtractingReportingOverflow(time)
        guard !overflow, distance.magnitude <= UInt64(tolerance) else {
            throw refusal(
                "the time stamp is more than \(tolerance / 60) minutes away: the event is old, or a clock is wrong")
        }
    }

    private static func hex(after prefix: String, _ text: String) -> [UInt8]? {
        guard text.hasPrefix(prefix) else { return nil }
        let digits = text.utf8.dropFirst(prefix.utf8.count)
        guard digits.count == 64 else { return nil }
        var bytes: [UInt8] = []
        var rest = digits[...]
        while let high = rest.popFirst(), let low = rest.popFirst() {
            guard let one = Character(Unicode.Scalar(high)).hexDigitValue,
                let other = Character(Unicode.Scalar(low)).hexDigitValue
            else { return nil }
            bytes.append(UInt8(one << 4 | other))
        }
        return bytes
    }
}
