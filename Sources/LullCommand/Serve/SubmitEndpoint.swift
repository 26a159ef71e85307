internal import Lull
internal import LullCore
internal import LullDurable
internal import LullHTTP
internal import LullInspection

/// Submits by HTTP: `POST /v1/NAMESPACE/KEY`, and hooks.
struct SubmitEndpoint: Sendable {
    /// How long a submit of a hook waits for the store. Services give up after 10 seconds, as GitHub does, or later.
    static let patienceOfHooks = Duration.seconds(8)

    private let submits: SubmitBatcher
    /// The namespaces that may be reached; empty for all.
    private let namespaces: [String]
    private let hooks: [Hook]

    init(_ store: any WatchedStore, namespaces: [String], hooks: [Hook]) {
        (submits, self.namespaces, self.hooks) = (SubmitBatcher(store), namespaces, hooks)
    }

    func hook(for request: HTTPRequest) -> Hook? { hooks.first { $0.path == request.path } }

    /// Records the value that a request brings, and then answers.
    func submit(_ request: HTTPRequest, _ done: @escaping @Sendable (HTTPAnswer) -> Void) {
        do throws(HTTPRefusal) {
            // A slash in a key need not be escaped.
            let parts = request.path.utf8.split(
                separator: UInt8(ascii: "/"), maxSplits: 3, omittingEmptySubsequences: false)
            guard parts.count == 4 else {
                throw HTTPRefusal(status: 400, reason: "a submit is POST /v1/NAMESPACE/KEY")
            }
            guard let name = PercentEncoding.decoded(parts[2]), let key = PercentEncoding.decoded(parts[3]) else {
                throw HTTPRefusal(status: 400, reason: "the path has a % that begins no byte: write %25")
            }
            guard let namespace = String(validating: name, as: UTF8.self) else {
                throw HTTPRefusal(status: 400, reason: "the name of the namespace is not UTF-8")
            }
            if key.isEmpty { throw HTTPRefusal(status: 400, reason: "the key is empty: POST /v1/NAMESPACE/KEY") }
            try record(request, key: key, in: namespace, token: try Self.token(request), done)
        } catch {
            done(.refusal(error))
        }
    }

    /// Records an event of another service, if it proves that it comes from there.
    func submit(
        _ request: HTTPRequest, to hook: Hook, at now: Int64, _ done: @escaping @Sendable (HTTPAnswer) -> Void
    ) {
        do throws(HTTPRefusal) {
            try hook.verification.check(request, key: hook.secret, at: now)
            if let challenge = hook.challenge(of: request) {
                return done(HTTPAnswer(200, "text/plain; charset=utf-8", Array(challenge.utf8)))
            }
            try record(
                request, key: try hook.key(of: request.body), in: hook.namespace, token: try hook.token(of: request),
                within: Self.patienceOfHooks, done)
        } catch {
            done(.refusal(error))
        }
    }

    private func record(
        _ request: HTTPRequest, key: [UInt8], in namespace: String, token: String?, within time: Duration? = nil,
        _ done: @escaping @Sendable (HTTPAnswer) -> Void
    ) throws(HTTPRefusal) {
        // Not every store could have a name with a NUL byte, and one that is away is no answer.
        guard namespaces.isEmpty || namespaces.contains(namespace), !namespace.utf8.contains(0) else {
            throw Self.unknown(namespace)
        }
        let submission = DurableSubmission(
            namespace: namespace, key: key, value: request.body, wait: try Self.delay(request), token: token,
            context: try Self.only("Lull-Context", request))
        submits.add(submission, within: time) { answer in
            switch answer {
            case .receipt(let receipt): done(.json(202, receipt.json))
            case .error(let error): done(.refusal(Self.refusal(error, namespace)))
            case .notJSON(let fault):
                done(
                    .refusal(
                        HTTPRefusal(
                            status: 400, reason: "the value is not JSON, which the namespace merges: \(fault)")))
            }
        }
    }

    /// Returns the value of a field that says how to record the submit; nil if there is none. To ignore two would
    /// record something else.
    private static func only(_ name: String, _ request: HTTPRequest) throws(HTTPRefusal) -> String? {
        let value = request.field(name)
        if value == nil, request.hasField(name) {
            throw HTTPRefusal(status: 400, reason: "\(name) is given more than once")
        }
        return value
    }

    /// Returns the token of a submit; nil if it has none.
    static func token(_ request: HTTPRequest) throws(HTTPRefusal) -> String? {
        let token = try only("Idempotency-Key", request)
        // All submits of a client that has lost its tokens would count as one.
        if token == "" { throw HTTPRefusal(status: 400, reason: "Idempotency-Key is empty") }
        return token
    }

    private static func delay(_ request: HTTPRequest) throws(HTTPRefusal) -> CoreDuration? {
        guard let text = try only("Lull-After", request) else { return nil }
        do throws(Refusal) { return try DurationText.read(text) } catch {
            throw HTTPRefusal(status: 400, reason: "Lull-After: \(error.reason)")
        }
    }

    private static func unknown(_ namespace: String) -> HTTPRefusal {
        HTTPRefusal(
            status: 404,
            reason:
                "there is no namespace \(namespace): lull submit or work with a policy creates it, such as --wait 5s")
    }

    /// Returns what a submit is answered that the store has not recorded.
    static func refusal(_ error: DurableError, _ namespace: String) -> HTTPRefusal {
        switch error {
        case .noPolicy: unknown(namespace)
        case .tooLarge: HTTPRefusal(status: 413, reason: "\(error)")
        case .keyTooLong, .contextTooLong, .tokenOfOtherKey, .unencodable, .undecodable, .otherPolicy, .hasWork:
            HTTPRefusal(status: 400, reason: "\(error)")
        case .full: HTTPRefusal(status: 429, reason: "\(error)", fields: [("Retry-After", "5")])
        case .unknown: HTTPRefusal(status: 503, reason: "\(error)", fields: [("Retry-After", "1")], isUnknown: true)
        case .refused, .unusable, .closed:
            HTTPRefusal(status: 503, reason: "\(error)", fields: [("Retry-After", "5")])
        }
    }
}

extension DurableReceipt {
    /// The receipt as commands and ``SubmitEndpoint`` print it.
    var json: JSONValue {
        ["key": .bytes(key), "generation": .number(generation), "dueIn": .seconds(dueIn)]
    }
}
