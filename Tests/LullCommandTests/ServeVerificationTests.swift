import LullHTTP
import Testing

@testable import LullCommand

/// How services prove that an event comes from them, with the examples that they publish.
@Suite("Signatures of hooks", .enabled(if: ServeProcess.isInstalled))
struct ServeVerificationTests {
    private static let slackBody =
        "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow"
        + "&channel_id=G8PSS9T3V&channel_name=foobar"
        + "&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2F"
        + "hooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN"
        + "&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"

    struct Example: CustomTestStringConvertible, Sendable {
        let verification: HookVerification
        let secret: String
        let fields: [String: String]
        let body: String
        let time: Int64
        /// The field with the signature.
        let signature: String

        var testDescription: String { verification.rawValue }

        func check(
            _ changes: [String: String?] = [:], body: String? = nil, secret: String? = nil, after seconds: Int64 = 0
        ) -> String? {
            var all = fields
            for (name, value) in changes {
                if let value { all[name] = value } else { all.removeValue(forKey: name) }
            }
            var request = HTTPRequest(
                method: "POST", path: "/hook", fields: all.map { (name: $0.key, value: $0.value) })
            request.body = Array((body ?? self.body).utf8)
            do {
                let key = try verification.key(of: Array((secret ?? self.secret).utf8))
                try verification.check(request, key: key, at: time + seconds)
                return nil
            } catch {
                return (error as? HTTPRefusal).map { "\($0.status) \($0.reason)" } ?? "\(error)"
            }
        }
    }

    static let examples = [
        // docs.github.com, "Validating webhook deliveries".
        Example(
            verification: .github, secret: "It's a Secret to Everybody",
            fields: ["X-Hub-Signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"],
            body: "Hello, World!", time: 0, signature: "X-Hub-Signature-256"),
        // docs.slack.dev, "Verifying requests from Slack".
        Example(
            verification: .slack, secret: "8f742231b10e8888abcd99yyyzzz85a5",
            fields: [
                "X-Slack-Request-Timestamp": "1531420618",
                "X-Slack-Signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
            ], body: slackBody, time: 1_531_420_618, signature: "X-Slack-Signature"),
        // The specification of Standard Webhooks.
        Example(
            verification: .standardWebhooks, secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            fields: [
                "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330",
                "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
            ], body: #"{"test": 2432232314}"#, time: 1_614_265_330, signature: "webhook-signature"),
        // Stripe publishes no example with its secret: this one was computed with Python's hmac, as its documentation
        // describes.
        Example(
            verification: .stripe, secret: "whsec_test_secret",
            fields: [
                "Stripe-Signature":
                    "t=1492774577,v1=c137b1b62277d523cf8fed4dfbd0170a9a5b8a380e00cc3711d4bf0652f2ce7a,"
                    + "v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39"
            ],
            body: #"{"id": "evt_test_webhook", "object": "event"}"#, time: 1_492_774_577,
            signature: "Stripe-Signature"),
        Example(
            verification: .bearer, secret: "s3cr3t", fields: ["Authorization": "Bearer s3cr3t"], body: "{}", time: 0,
            signature: "Authorization"),
    ]

    @Test(arguments: examples)
    func `the published example is authentic`(_ example: Example) {
        #expect(example.check() == nil)
    }

    @Test(arguments: examples)
    func `another secret, another signature or none is refused`(_ example: Example) throws {
        let other = example.verification == .standardWebhooks ? "whsec_AAAAr8GKYqrTwjUPD8ILPZIo2LaLaSw=" : "another"
        #expect(try #require(example.check(secret: other)).hasPrefix("401 "))
        #expect(try #require(example.check([example.signature: nil as String?])).hasPrefix("401 "))
        let signature = try #require(example.fields[example.signature])
        // Stripe's field ends with a signature that is not looked at.
        let cut = String(
            (signature.firstRange(of: ",v0=").map { signature[..<$0.lowerBound] } ?? signature[...]).dropLast(2))
        for wrong in [
            cut, signature.replacing("v1=c", with: "v1=d").replacing("g0h", with: "g1h"), "", "sha256=", "v0=", "v1,",
        ]
        where wrong != signature {
            #expect(try #require(example.check([example.signature: wrong])).hasPrefix("401 "), "\(wrong)")
        }
    }

    @Test(arguments: examples.filter { $0.verification != .bearer })
    func `a body that was changed is refused`(_ example: Example) throws {
        #expect(try #require(example.check(body: example.body + " ")).hasPrefix("401 the signature does not match"))
    }

    @Test(arguments: examples.filter { [.slack, .stripe, .standardWebhooks].contains($0.verification) })
    func `an event from another time is refused`(_ example: Example) throws {
        #expect(example.check(after: 300) == nil && example.check(after: -300) == nil)
        for seconds in [301, -301, Int64.max - example.time] {
            #expect(try #require(example.check(after: seconds)).hasPrefix("401 the time stamp is more than 5 minutes"))
        }
    }

    @Test func `one of several signatures is enough, while a secret is replaced`() throws {
        let stripe = try #require(Self.examples.first { $0.verification == .stripe })
        let signature = try #require(stripe.fields["Stripe-Signature"])
        let two = signature.replacing("t=1492774577,", with: "t=1492774577,v1=\(String(repeating: "0", count: 64)),")
        #expect(stripe.check(["Stripe-Signature": two]) == nil)
        let standard = try #require(Self.examples.first { $0.verification == .standardWebhooks })
        let other =
            "v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= \(standard.fields["webhook-signature"] ?? "") v1a,xyz"
        #expect(standard.check(["webhook-signature": other]) == nil)
    }
}
