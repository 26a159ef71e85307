internal import CLullCommand
internal import Lull
internal import LullCore
internal import LullDurable
internal import LullHTTP
internal import LullInspection

/// What the page of `lull serve` asks for.
struct PageEndpoint: Sendable {
    private let store: any WatchedStore
    private let monitor: StoreMonitor
    /// The URL of the store, without its password.
    private let name: String
    private let namespaces: [String]
    /// Writes a line to the log of actions.
    private let log: @Sendable (String) -> Void

    init(
        _ store: any WatchedStore, _ monitor: StoreMonitor, name: String, namespaces: [String],
        log: @escaping @Sendable (String) -> Void = BackgroundMessages.report
    ) {
        (self.store, self.monitor, self.namespaces, self.log) = (store, monitor, namespaces, log)
        self.name = ServerURL.withoutPassword(name)
    }

    static let questions: Set = ["me", "events", "keys", "key", "dead", "value", "count"]
    static let actions: Set = [
        "flush", "cancel", "touch", "retry", "discard", "pause", "resume", "submit",
    ]

    var viewers: Int { monitor.viewers }

    /// How long the questions of programs that watch wait for the store, which waits longer for a server. Prometheus
    /// gives up after 10 seconds.
    private static let patience = Duration.seconds(8)

    /// Returns the status; nil if the store is away.
    func statusInTime() async -> StoreStatus? {
        let status = await Self.inTime { () async throws(DurableError) in
            StoreStatus(namespaces: try await monitor.status(), health: try await store.health())
        }
        return try? status.get()
    }

    func health() async -> HTTPAnswer {
        switch await Self.inTime({ () async throws(DurableError) in try await monitor.check() }) {
        case .success: .json(200, ["store": .text("answers")])
        case .failure(let error): .refusal(HTTPRefusal(status: 503, reason: "\(error.ofQuestion)"))
        }
    }

    /// Returns the answer to a question, or an error if it takes too long. The question is then left to end by itself.
    private static func inTime<Value: Sendable>(
        _ ask: @escaping @Sendable () async throws(DurableError) -> Value
    ) async -> Result<Value, DurableError> {
        await withCheckedContinuation { continuation in
            let waiting = Guarded<CheckedContinuation<Result<Value, DurableError>, Never>?>(continuation)
            let timer = Task {
                try? await Task.sleep(for: patience)
                let why = "the store has not answered for \(patience.components.seconds) seconds"
                waiting.exchange(nil)?.resume(returning: .failure(.refused(why)))
            }
            Task {
                let answer: Result<Value, DurableError>
                do throws(DurableError) { answer = .success(try await ask()) } catch { answer = .failure(error) }
                waiting.exchange(nil)?.resume(returning: answer)
                timer.cancel()
            }
        }
    }

    // MARK: - Looking

    func look(_ what: String, _ request: HTTPRequest, _ visitor: Visitor) async -> HTTPAnswer {
        do {
            switch what {
            case "me":
                return .json(
                    200,
                    [
                        "name": .text(visitor.name(in: request)),
                        "role": .text(visitor.rights.contains(.act) ? "act" : "look"), "store": .text(name),
                        "version": .text(Help.version),
                    ])
            case "events":
                let stream = EventStream()
                monitor.add(stream, showing: request.argument("namespace"))
                return HTTPAnswer(stream)
            case "keys": return try await keys(request)
            case "key": return try await key(request)
            case "dead": return try await dead(request)
            case "value": return try await value(request)
            default: return try await count(request)
            }
        } catch {
            return Self.refusal(error)
        }
    }

    private func keys(_ request: HTTPRequest) async throws -> HTTPAnswer {
        let namespace = try namespace(request)
        let prefix = request.arguments("prefix").first ?? []
        let limit = try number(request, "limit", upTo: 1000) ?? 200
        let listings = try await store.list(
            in: namespace, prefix: prefix, from: request.arguments("from").first ?? [], limit: limit)
        let next = listings.count == limit ? listings.last.map { $0.key + [0] } : nil
        return .json(
            200, ["keys": .array(listings.map(\.json)), "next": next.map { .bytes($0) } ?? .null])
    }

    private func key(_ request: HTTPRequest) async throws -> HTTPAnswer {
        let (namespace, key) = (try namespace(request), try key(of: request))
        let listing = try await store.list(in: namespace, prefix: key, from: key, limit: 1).first { $0.key == key }
        let ended = try await store.ended(of: key, in: namespace, limit: 100)
        return .json(200, ["listing": listing.map(\.json) ?? .null, "ended": .array(ended.map(\.json))])
    }

    private func dead(_ request: HTTPRequest) async throws -> HTTPAnswer {
        let namespace = try namespace(request)
        let selection = try selection(request) ?? .all
        let limit = try number(request, "limit", upTo: 1000) ?? 100
        let count =
            selection == .all
            ? try await store.status(of: namespace).dead
            : try await store.deadRuns(matching: selection, in: namespace).count
        let runs = try await store.deadRuns(
            matching: selection, in: namespace, newestFirst: false, limit: limit, withValues: false)
        return .json(200, ["count": .number(count), "dead": .array(runs.map { $0.json(withValues: false) })])
    }

    /// How much of a value the page shows.
    private static let shownBytes = 64 << 10
    private static let shownValues = 100

    private func value(_ request: HTTPRequest) async throws -> HTTPAnswer {
        let namespace = try namespace(request)
        guard let run = try number(request, "run", upTo: .max) else {
            throw HTTPRefusal(status: 400, reason: "run is missing")
        }
        guard let dead = try await store.deadRun(Int64(run), in: namespace) else {
            throw HTTPRefusal(status: 404, reason: "run \(run) is not a dead run of \(namespace)")
        }
        if let index = try number(request, "index", upTo: .max, from: 0) {
            guard dead.values.indices.contains(index) else {
                throw HTTPRefusal(status: 404, reason: "run \(run) has no value \(index)")
            }
            return HTTPAnswer(
                200, "application/octet-stream", dead.values[index],
                [
                    ("Content-Disposition", "attachment; filename=\"run-\(run)-\(index)\""),
                    ("Content-Security-Policy", "sandbox; default-src 'none'"), ("Cache-Control", "no-store"),
                ])
        }
        return .json(
            200,
            [
                "values": .array(dead.values.prefix(Self.shownValues).map(Self.shown)),
                "count": .number(dead.values.count),
            ])
    }

    private static func shown(_ value: [UInt8]) -> JSONValue {
        [
            "bytes": .number(value.count), "value": .bytes(start(of: value)), "cut": .bool(value.count > shownBytes),
        ]
    }

    /// Returns the first bytes of a value, which end with a whole character if it is text.
    private static func start(of value: [UInt8]) -> [UInt8] {
        var start = value.prefix(shownBytes)
        if value.count > shownBytes {
            for _ in 0..<3 where !start.withUnsafeBufferPointer(UTF8Text.isValid) { start = start.dropLast() }
            if !start.withUnsafeBufferPointer(UTF8Text.isValid) { start = value.prefix(shownBytes) }
        }
        return Array(start)
    }

    private func count(_ request: HTTPRequest) async throws -> HTTPAnswer {
        let action = request.argument("action") ?? ""
        let target = try target(of: action, request)
        let count: Int
        switch target {
        case .keys(let keys): count = keys.count
        case .selectedKeys(let selection):
            let found = try await store.count(matching: selection, in: try namespace(request))
            count = action == "flush" ? found.flushable : found.cancellable
        case .runs(let runs): count = runs.count
        case .selectedRuns(let selection):
            count = try await store.deadRuns(matching: selection, in: try namespace(request)).count
        }
        let what = action == "retry" || action == "discard" ? "dead run" : "key"
        return .json(200, ["count": .number(count), "what": .text(counted(count, what))])
    }

    // MARK: - Acting

    /// What an action changes.
    private enum ActionTarget {
        case keys([[UInt8]])
        case selectedKeys(DurableSelection)
        case runs([Int64])
        case selectedRuns(DurableSelection)
    }

    func act(_ action: String, _ request: HTTPRequest, _ visitor: Visitor) async -> HTTPAnswer {
        do {
            let namespace = try namespace(request)
            let (done, notes) = try await perform(action, request, namespace)
            let who = visitor.name(in: request).map { Terminal.plain($0) } ?? "a visitor"
            log("\(Self.now) \(who), \(Terminal.shown(namespace)): \(done)\(Self.details(request))")
            return .json(200, ["done": .text(done), "notes": .array(notes.map { .text($0) })])
        } catch {
            return Self.refusal(error)
        }
    }

    private func perform(
        _ action: String, _ request: HTTPRequest, _ namespace: String
    ) async throws -> (done: String, notes: [String]) {
        switch action {
        case "pause":
            let pause = try await store.pause(namespace, reason: request.argument("reason"), for: nil)
            return ("paused\(pause.shownReason)", [])
        case "resume": return (try await store.resume(namespace) ? "resumed" : "was not paused", [])
        case "touch":
            return (
                try await store.touch(key(of: request), in: namespace, wait: nil) ? "touched 1 key" : "touched 0 keys",
                []
            )
        case "submit":
            let submission = DurableSubmission(
                namespace: namespace, key: try key(of: request), value: request.body,
                token: try SubmitEndpoint.token(request))
            let receipt = try await store.submit(submission)
            return ("submitted generation \(receipt.generation)", [])
        default: break
        }
        let target = try target(of: action, request)
        switch (action, target) {
        case ("flush", .keys(let keys)):
            let count = try await store.change(.flush, .keys(keys), in: namespace).count
            return ("flushed \(counted(count, "key"))", [])
        case ("flush", .selectedKeys(let selection)):
            let count = try await store.change(.flush, .selection(selection), in: namespace).count
            return ("flushed \(counted(count, "key"))", [])
        case ("cancel", .keys(let keys)):
            let count = try await store.change(.cancel, .keys(keys), in: namespace).count
            return ("cancelled \(counted(count, "submit"))", [])
        case ("cancel", .selectedKeys(let selection)):
            let count = try await store.change(.cancel, .selection(selection), in: namespace).count
            return ("cancelled \(counted(count, "submit"))", [])
        case (_, .runs(let runs)): return try await handle(runs, action, namespace)
        case (_, .selectedRuns(let selection)):
            return try await handle(try await store.deadRuns(matching: selection, in: namespace), action, namespace)
        default: throw HTTPRefusal(status: 400, reason: "\(action) does not know what to change")
        }
    }

    /// Retries or discards dead runs, some at a time.
    private func handle(
        _ runs: [Int64], _ action: String, _ namespace: String
    ) async throws -> (done: String, notes: [String]) {
        let counts = try await DeadRuns.change(runs, retries: action == "retry", namespace, in: store)
        return (
            "\(action == "retry" ? "retried" : "discarded") \(counted(counts[.accepted] ?? 0, "dead run"))",
            DeadRuns.refusals(counts)
        )
    }

    private static var now: String { LocalTime.text(StoreClock.system.read().wall.nanoseconds / 1_000_000_000) }

    /// What was chosen, for the log.
    private static func details(_ request: HTTPRequest) -> String {
        let names = ["key", "prefix", "older-than", "error", "run", "all"]
        let parts = request.arguments.filter { names.contains($0.name) }.prefix(8).map { argument in
            "\(argument.name) \(Terminal.shown(argument.value))"
        }
        return parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
    }

    // MARK: - Reading arguments

    private func namespace(_ request: HTTPRequest) throws(HTTPRefusal) -> String {
        guard let name = request.argument("namespace") else {
            throw HTTPRefusal(status: 400, reason: "namespace is missing")
        }
        guard namespaces.isEmpty || namespaces.contains(name), !name.utf8.contains(0) else {
            throw HTTPRefusal(status: 404, reason: "there is no namespace \(name)")
        }
        return name
    }

    private func key(of request: HTTPRequest) throws(HTTPRefusal) -> [UInt8] {
        if let key = request.arguments("key").first { return key }
        throw HTTPRefusal(status: 400, reason: "key is missing")
    }

    private func number(
        _ request: HTTPRequest, _ name: String, upTo most: Int, from least: Int = 1
    ) throws(HTTPRefusal) -> Int? {
        guard let text = request.argument(name) else { return nil }
        guard let number = Int(text), (least...most).contains(number) else {
            throw HTTPRefusal(
                status: 400, reason: "\(name) must be a whole number from \(least)\(most == .max ? "" : " to \(most)")")
        }
        return number
    }

    /// Returns the selection of a request; nil if it has none.
    private func selection(_ request: HTTPRequest) throws(HTTPRefusal) -> DurableSelection? {
        let (prefix, error) = (request.arguments("prefix").first, request.argument("error"))
        var olderThan: CoreDuration?
        if let text = request.argument("older-than") {
            do throws(Refusal) { olderThan = try DurationText.read(text) } catch {
                throw HTTPRefusal(status: 400, reason: "older-than: \(error.reason)")
            }
        }
        if prefix == nil, error == nil, olderThan == nil, request.argument("all") == nil { return nil }
        return DurableSelection(prefix: prefix ?? [], olderThan: olderThan.map { Duration($0) }, error: error)
    }

    private func target(of action: String, _ request: HTTPRequest) throws(HTTPRefusal) -> ActionTarget {
        let isOfRuns = action == "retry" || action == "discard"
        guard isOfRuns || action == "flush" || action == "cancel" else {
            throw HTTPRefusal(status: 400, reason: "action must be flush, cancel, retry or discard")
        }
        if let selection = try selection(request) {
            return isOfRuns ? .selectedRuns(selection) : .selectedKeys(selection)
        }
        let given = request.arguments(isOfRuns ? "run" : "key")
        if given.isEmpty {
            throw HTTPRefusal(
                status: 400,
                reason: "say what to \(action): \(isOfRuns ? "run" : "key"), prefix, older-than, error or all=1")
        }
        if !isOfRuns { return .keys(given) }
        let runs = given.compactMap { Int64(String(decoding: $0, as: UTF8.self)) }
        if runs.count < given.count { throw HTTPRefusal(status: 400, reason: "run must be a number") }
        return .runs(runs)
    }

    private static func refusal(_ error: any Error) -> HTTPAnswer {
        switch error {
        case let refusal as HTTPRefusal: .refusal(refusal)
        case let error as DurableError:
            if case .noPolicy(let name) = error {
                .refusal(HTTPRefusal(status: 404, reason: "there is no namespace \(name)"))
            } else {
                .refusal(SubmitEndpoint.refusal(error, ""))
            }
        default: .refusal(HTTPRefusal(status: 500, reason: "\(error)"))
        }
    }
}
