internal import Lull
internal import LullHTTP
internal import LullInspection

/// What `lull top --page` answers: its page, and events with what the program says.
final class TopEndpoint: Sendable {
    /// How many pages may be open. A stream may be silent for as long as it likes, and other requests need connections,
    /// too.
    static let mostPages = 32

    private let access: AccessControl
    private let state = Guarded(State())
    /// Called when somebody opens the page.
    private let opened: @Sendable () -> Void

    private struct State {
        var viewers: [EventStream] = []
        /// What a page gets first.
        var latest: EventStream.Event?
    }

    init(at place: Listener.Place, opened: @escaping @Sendable () -> Void) {
        access = AccessControl(place: place, tokens: nil, allowsActions: false, origin: nil, mayBeBehindProxy: false)
        self.opened = opened
    }

    // MARK: - For the server

    /// Returns the answer to a request that is refused by its head alone.
    func refuse(_ request: HTTPRequest) -> HTTPAnswer? {
        do throws(HTTPRefusal) {
            let isFile = HTTPPage.top.answers[request.path] != nil
            guard isFile || request.path == "/api/events" else { throw request.isForNothing }
            try request.check(method: isFile ? ["GET", "HEAD"] : ["GET"])
            try access.checkSite(of: request)
            try access.checkArguments(of: request)
            return nil
        } catch {
            return .refusal(error)
        }
    }

    /// Answers a request that was not refused.
    func answer(_ request: HTTPRequest) -> HTTPAnswer {
        if let file = HTTPPage.top.answers[request.path] { return file }
        let stream = EventStream()
        let hasRoom = state.change { state in
            state.viewers.removeAll(where: \.isGone)
            if state.viewers.count == Self.mostPages { return false }
            state.viewers.append(stream)
            if let latest = state.latest { stream.publish(latest) }
            return true
        }
        if !hasRoom { return failure(503, "\(Self.mostPages) pages are open already") }
        opened()
        return HTTPAnswer(stream)
    }

    func failure(_ status: Int, _ reason: String) -> HTTPAnswer {
        .refusal(HTTPRefusal(status: status, reason: reason))
    }

    // MARK: - For the loop that reads from the program

    /// Whether a page is open.
    var isWatched: Bool {
        state.change { state in
            state.viewers.removeAll(where: \.isGone)
            return !state.viewers.isEmpty
        }
    }

    func publish(_ content: JSONValue) {
        let event = EventStream.Event("look", content.text)
        state.change { state in
            state.latest = event
            for viewer in state.viewers { viewer.publish(event) }
        }
    }

    /// Forgets what was published: it is old by the time when the next page is opened.
    func forget() { state.change { $0.latest = nil } }

    func keepAlive() {
        for viewer in state.value.viewers { viewer.keepAlive() }
    }
}
