internal import CLullCommand
internal import Lull
internal import LullCore
internal import LullDurable
internal import LullHTTP

/// What `lull serve` answers: which request goes where, and who may make it.
final class ServeRouter: Sendable {
    let access: AccessControl
    let endpoint: SubmitEndpoint
    let page: PageEndpoint
    /// The answers that were given, by their status. Those that are watched count from 0, so that the first one is an
    /// increase.
    private let answers = Guarded([202: 0, 429: 0, 503: 0])
    private let submits = Guarded(0)
    /// How many connections there are; set when the server has started.
    let connections = Guarded<(@Sendable () -> Int)?>(nil)

    init(_ access: AccessControl, _ endpoint: SubmitEndpoint, _ page: PageEndpoint) {
        (self.access, self.endpoint, self.page) = (access, endpoint, page)
    }

    /// Where a request goes.
    private enum Route {
        case page(HTTPAnswer)
        case health
        case metrics
        case look(String)
        case action(String)
        case submit
        case hook(Hook)
    }

    private func route(of request: HTTPRequest) throws(HTTPRefusal) -> Route {
        let path = request.path
        func check(_ allowed: [String]) throws(HTTPRefusal) { try request.check(method: allowed) }
        if let hook = endpoint.hook(for: request) {
            try check(["POST"])
            return .hook(hook)
        }
        if path.hasPrefix("/v1/") {
            try check(["POST"])
            return .submit
        }
        let fixed: Route? =
            switch path {
            case "/health": .health
            case "/metrics": .metrics
            default: HTTPPage.serve.answers[path].map(Route.page)
            }
        if let fixed {
            try check(["GET", "HEAD"])
            return fixed
        }
        if path.hasPrefix("/api/") {
            let name = String(path.dropFirst("/api/".count))
            if PageEndpoint.questions.contains(name) {
                try check(["GET", "HEAD"])
                return .look(name)
            }
            if PageEndpoint.actions.contains(name) {
                try check(["POST"])
                return .action(name)
            }
        }
        throw request.isForNothing
    }

    /// Returns the answer to a request that is refused by its head alone.
    func refuse(_ request: HTTPRequest) -> HTTPAnswer? {
        do throws(HTTPRefusal) {
            switch try route(of: request) {
            case .health: break
            case .page:
                try access.checkSite(of: request)
                try access.checkArguments(of: request)
            case .hook(let hook): if hook.verification == .none { try access.checkSite(of: request) }
            case .metrics, .look: try check(.look, request)
            case .submit: try check(.submit, request)
            case .action:
                // A form of another site cannot set it.
                guard request.hasField("Lull-Page") else {
                    throw HTTPRefusal(status: 403, reason: "an action needs the header Lull-Page: 1")
                }
                try check(.act, request)
            }
            return nil
        } catch {
            return counted(.refusal(error))
        }
    }

    private func check(_ right: AccessRights, _ request: HTTPRequest) throws(HTTPRefusal) {
        if try access.visitor(of: request).rights.contains(right) { return }
        let reason =
            switch right {
            case .submit: "the token may not submit"
            case .look: "the token may only submit"
            default:
                access.allowsActions ? "the token may only look" : "lull serve was started without --allow-actions"
            }
        throw HTTPRefusal(status: 403, reason: reason)
    }

    /// Answers a request that was not refused.
    func answer(_ request: HTTPRequest, _ done: @escaping @Sendable (HTTPAnswer) -> Void) {
        do throws(HTTPRefusal) {
            switch try route(of: request) {
            case .page(let file): done(counted(file))
            case .health: Task { done(counted(await page.health())) }
            case .metrics: Task { done(counted(await metrics(request))) }
            case .look(let name):
                let visitor = try access.visitor(of: request)
                Task { done(counted(await page.look(name, request, visitor))) }
            case .action(let name):
                let visitor = try access.visitor(of: request)
                Task { done(counted(await page.act(name, request, visitor))) }
            case .submit: endpoint.submit(request) { [self] in done(counted($0, isSubmit: true)) }
            case .hook(let hook):
                // A signature is of the whole body, which may be large: not on the thread of all requests.
                Task { [self] in
                    endpoint.submit(request, to: hook, at: Int64(time(nil))) { [self] in
                        done(counted($0, isSubmit: true))
                    }
                }
            }
        } catch {
            done(counted(.refusal(error)))
        }
    }

    func failure(_ status: Int, _ reason: String) -> HTTPAnswer {
        counted(
            .refusal(HTTPRefusal(status: status, reason: reason, fields: status == 503 ? [("Retry-After", "1")] : [])))
    }

    private func counted(_ answer: HTTPAnswer, isSubmit: Bool = false) -> HTTPAnswer {
        answers.change { $0[answer.status, default: 0] += 1 }
        if isSubmit, answer.status == 202 { submits.change { $0 += 1 } }
        return answer
    }

    // MARK: - Metrics

    private static let openMetrics = "application/openmetrics-text"

    private func metrics(_ request: HTTPRequest) async -> HTTPAnswer {
        let found = await page.statusInTime()
        var status = found ?? StoreStatus(namespaces: [])
        status.health =
            (status.health ?? []) + [
                MeasuredFigure(
                    StatusFigure("up", "lull_up", "Whether the store answers: 1, or 0 while it is away."),
                    .count(found == nil ? 0 : 1))
            ] + measures
        var text: [UInt8] = []
        let takesNew = request.field("Accept")?.contains(Self.openMetrics) ?? false
        OpenMetrics.append(status, as: takesNew ? .openMetrics : .prometheus, to: &text)
        return HTTPAnswer(
            200,
            takesNew
                ? "\(Self.openMetrics); version=1.0.0; charset=utf-8" : "text/plain; version=0.0.4; charset=utf-8",
            text)
    }

    /// The figures of the server itself.
    private var measures: [MeasuredFigure] {
        let answered = answers.value.sorted { $0.key < $1.key }.map { status, count in
            MeasuredFigure(
                StatusFigure(
                    name: "answers", property: "answers", metric: "lull_serve_answers",
                    help: "Requests that were answered, by the status of the answer.",
                    labels: [("status", "\(status)")], isCounter: true), .count(count))
        }
        return answered + [
            MeasuredFigure(
                StatusFigure(
                    name: "submits", property: "submits", metric: "lull_serve_submits",
                    help: "Submits that were recorded through the door.", isCounter: true), .count(submits.value)),
            MeasuredFigure(
                StatusFigure(
                    name: "connections", property: "connections", metric: "lull_serve_connections",
                    help: "Connections that are open."), .count(connections.value?() ?? 0)),
            MeasuredFigure(
                StatusFigure(
                    name: "pages", property: "pages", metric: "lull_serve_pages",
                    help: "Pages that are open, each with a stream of events."), .count(page.viewers)),
        ]
    }
}
