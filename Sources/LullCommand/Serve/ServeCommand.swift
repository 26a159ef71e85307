internal import CLullCommand
internal import Lull
internal import LullCore
internal import LullDurable
internal import LullHTTP

/// `lull serve`: submits by HTTP, a page over a store, and metrics, until a signal ends it.
enum ServeCommand {
    /// How long requests under way have to end after a signal.
    private static let grace = Duration.seconds(10)

    static func run(_ options: CommandOptions) throws(Failure) -> Int32 {
        if let why = HTTPLibrary.load() { throw .failed(why) }
        var hooks: [Hook] = []
        if let file = options.hooks { hooks = try Hook.read(file) }
        var tokens: [AccessToken]?
        if let file = options.tokenFile { tokens = try AccessToken.read(file) }
        let origin = try options.origin.map { text throws(Failure) in try checkedOrigin(text) }
        let store = try openStore(options)
        let namespaces = options.givenNamespaces
        for name in namespaces {
            _ = try store.ask(for: .serve) { try await $0.status(of: name) }
        }
        try check(hooks, namespaces, store)
        let descriptors = lull_raise_descriptor_limit()
        let listener = try listen(options.listen ?? "127.0.0.1:8385", tokens, hooks)
        let access = AccessControl(
            place: listener.place, tokens: tokens, allowsActions: options.allowsActions,
            origin: origin)
        let monitor = StoreMonitor(store.store, namespaces: namespaces)
        let service = ServeRouter(
            access, SubmitEndpoint(store.store, namespaces: namespaces, hooks: hooks),
            PageEndpoint(store.store, monitor, name: options.store ?? "", namespaces: namespaces))
        // The signals are handled before the first request is taken.
        let signals = try Signals()
        var limits = HTTPServer.Limits(body: RecordReader.longest)
        limits.connections = connections(limits.connections, of: descriptors)
        let server = try CommandListener.start(
            at: listener, limits,
            HTTPServer.Handlers(
                refuse: { service.refuse($0) }, answer: { service.answer($0, $1) },
                failure: { service.failure($0, $1) }))
        service.connections.change { $0 = { server.connections } }
        monitor.begin()
        BackgroundMessages.report(
            "serving \(ServerURL.withoutPassword(options.store ?? "")) at \(CommandListener.address(of: listener))")
        CommandListener.end(
            server, at: listener, within: grace, by: wait(for: signals), first: { monitor.end() }, last: { store.end() }
        )
    }

    /// Opens the store, and waits for one that cannot be used for now.
    private static func openStore(_ options: CommandOptions) throws(Failure) -> CommandStore {
        try OpenedNamespace.awaiting { () throws(Failure) in try options.openStore(for: .serve) }
    }

    /// Returns how many connections there may be: clients must not take the descriptors that the store needs, and the
    /// program's threads, which end it where there are none.
    private static func connections(_ most: Int, of descriptors: UInt64) -> Int {
        let others: UInt64 = 128
        return Int(min(UInt64(most), descriptors > 2 * others ? descriptors - others : max(1, descriptors / 2)))
    }

    /// Throws if a hook leads to a namespace that is not there: services rarely repeat an event that was refused.
    private static func check(_ hooks: [Hook], _ namespaces: [String], _ store: CommandStore) throws(Failure) {
        for hook in hooks {
            let name = hook.namespace
            guard namespaces.isEmpty || namespaces.contains(name) else {
                throw .badData(
                    "the hook \(hook.path): its namespace \(Terminal.shown(name)) is not served: see --namespace")
            }
            do throws(Failure) { _ = try store.ask(for: .serve) { try await $0.status(of: name) } } catch {
                throw error.of("the hook \(hook.path)")
            }
        }
    }

    private static func wait(for signals: Signals) -> Int32 {
        while true {
            var interest = pollfd(descriptor: signals.descriptor, Int32(POLLIN))
            poll(&interest, 1, -1)
            if let number = signals.received().first(where: Signals.isEnding) { return number }
        }
    }

    private static func listen(
        _ text: String, _ tokens: [AccessToken]?, _ hooks: [Hook]
    ) throws(Failure) -> Listener {
        let listening = try CommandListener(text, for: .serve) {
            if tokens == nil {
                return .usage("--listen \(text) lets other machines in: it needs --token-file", .serve)
            }
            return hooks.first { $0.verification == .none }.map { open in
                .usage("--listen \(text) lets other machines in: the hook \(open.path) must verify its sender", .serve)
            }
        }
        return try listening.begin()
    }

    private static func checkedOrigin(_ text: String) throws(Failure) -> String {
        let host = text.drop { $0 != "/" }.dropFirst(2)
        guard text.hasPrefix("http://") || text.hasPrefix("https://"), !host.isEmpty,
            host.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "-.:[]".contains($0)) })
        else {
            throw .usage(
                "--origin must be a scheme and a host, such as https://lull.example.org, not \"\(text)\"", .serve)
        }
        return text
    }
}
