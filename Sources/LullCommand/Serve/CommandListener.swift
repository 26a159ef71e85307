internal import CLullCommand
internal import LullHTTP

/// The place at which a command listens for HTTP until a signal comes.
struct CommandListener {
    private let text: String
    private let place: Listener.Place
    private let isLocal: Bool

    /// Reads a place, and checks who can reach it.
    ///
    /// - Parameter refusal: Returns why other machines may not be let in; nil if they may.
    init(_ text: String, for subcommand: Subcommand, unlessRemote refusal: () -> Failure?) throws(Failure) {
        guard let place = Listener.place(text) else {
            let advice = Listener.advice(text, isForOthers: subcommand == .serve)
            throw .usage("--listen must be HOST:PORT or unix:PATH, not \"\(text)\": \(advice)", subcommand)
        }
        (self.text, self.place) = (text, place)
        do throws(Listener.Failure) { isLocal = try Listener.isLocal(place) } catch {
            throw .failed("cannot listen at \(text): \(error.reason)")
        }
        if !isLocal, let failure = refusal() { throw failure }
    }

    func begin() throws(Failure) -> Listener {
        do throws(Listener.Failure) { return try Listener(at: place, isLocal: isLocal) } catch {
            throw .failed("cannot listen at \(text): \(error.reason)")
        }
    }

    /// Returns where a browser finds what listens.
    static func address(of listener: Listener) -> String {
        switch listener.place {
        case .path(let path): "unix:\(path)"
        case .address(let host, _): "http://\(host.contains(":") ? "[\(host)]" : host):\(listener.port)/"
        }
    }

    static func start(
        at listener: Listener, _ limits: HTTPServer.Limits, _ handlers: HTTPServer.Handlers
    ) throws(Failure) -> HTTPServer {
        guard let server = HTTPServer(listeningAt: listener.socket, limits, handlers) else {
            throw .failed("libmicrohttpd could not start: there may be too few descriptors (ulimit -n)")
        }
        return server
    }

    /// Ends a server, and then the program by a signal. The next signal ends it at once.
    ///
    /// - Parameter time: How long requests under way may take.
    static func end(
        _ server: HTTPServer, at listener: Listener, within time: Duration, by number: Int32,
        first: @escaping @Sendable () -> Void = {}, last: () -> Void = {}
    ) -> Never {
        lull_default(SIGINT)
        lull_default(SIGTERM)
        _ = try? CommandStore.blocking(nil) {
            first()
            await server.stop(within: time)
        }
        listener.end()
        last()
        BackgroundMessages.drain()
        Signals.end(by: number)
    }
}
