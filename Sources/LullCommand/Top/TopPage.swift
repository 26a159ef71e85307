internal import CLullCommand
internal import CLullSockets
internal import CLullSystem
internal import LullHTTP
internal import LullInspection

/// `lull top --page`: a page with what a program says of its debouncers, until a signal ends it.
///
/// While nobody looks at the page, there is no connection to the program, which then does nothing for it.
struct TopPage {
    /// How long until an end of the program, or a failure, is followed by another attempt, in nanoseconds.
    private static let pause: Int64 = 500_000_000
    /// After how long without news a page is told that the connection lives.
    private static let silence: Int64 = 15_000_000_000

    private let operand: Argument
    private let service: TopEndpoint
    private var program: ProgramConnection?
    private var nextAttempt: Int64 = 0
    /// Why there is nothing to see, as the pages know it.
    private var away: String?
    private var published = lull_nanoseconds_since_boot()

    static func run(_ operand: Argument, _ options: CommandOptions) throws(Failure) -> Int32 {
        if let why = HTTPLibrary.load() { throw .failed(why) }
        let signals = try Signals()
        let place = options.listen ?? "127.0.0.1:0"
        let listening = try CommandListener(place, for: .top) {
            .usage("--listen \(place) would let other machines in, and the page asks for no token", .top)
        }
        // A path at which no program can be looked into is refused as without the page.
        var program = try ProgramConnection(to: operand)
        let first: ProgramSnapshot
        switch try program.next(signals, output: -1) {
        case .line(let line): first = try program.snapshot(line)
        case .signal(let number): Signals.end(by: number)
        case .silence, .end, .outputIsClosed: throw program.end
        }
        program.close()
        let listener = try listening.begin()
        let waking = try Pipe.make(isBlocking: false)
        let service = TopEndpoint(at: listener.place) { lull_socket_wake(waking.writing) }
        var limits = HTTPServer.Limits(body: 0)
        limits.connections = 100
        let server = try CommandListener.start(
            at: listener, limits,
            HTTPServer.Handlers(
                refuse: { service.refuse($0) }, answer: { $1(service.answer($0)) },
                failure: { service.failure($0, $1) }))
        let name = Terminal.shown(first.name)
        BackgroundMessages.report(
            "\(name), process \(first.process), is shown at \(CommandListener.address(of: listener))")
        var page = TopPage(operand: operand, service: service)
        let number = page.show(until: signals, wokenBy: waking.reading)
        CommandListener.end(server, at: listener, within: .seconds(1), by: number)
    }

    private init(operand: Argument, service: TopEndpoint) {
        (self.operand, self.service) = (operand, service)
    }

    /// Passes on what the program says; returns the signal that ends that.
    private mutating func show(until signals: Signals, wokenBy waking: Int32) -> Int32 {
        while true {
            let isWatched = service.isWatched
            if isWatched { look() } else { leave() }
            var interests = [
                pollfd(descriptor: signals.descriptor, Int32(POLLIN)), pollfd(descriptor: waking, Int32(POLLIN)),
                pollfd(descriptor: program?.descriptor ?? -1, Int32(POLLIN)),
            ]
            poll(&interests, 3, isWatched ? 500 : -1)
            if let number = signals.received().first(where: Signals.isEnding) { return number }
            var bytes = [UInt8](repeating: 0, count: 64)
            while read(waking, &bytes, bytes.count) > 0 {}
            if interests[2].revents != 0 { receive() }
        }
    }

    /// Connects to the program, if it is time to, and notices when it is silent.
    private mutating func look() {
        let now = lull_nanoseconds_since_boot()
        if let program {
            // Another program may have taken its path.
            if program.isSilent { lose(program.silence) }
        } else if now >= nextAttempt {
            do throws(Failure) {
                program = try ProgramConnection(to: operand)
            } catch {
                lose(error)
            }
        }
        if now - published > Self.silence {
            published = now
            service.keepAlive()
        }
    }

    /// Leaves the program alone while no page is open.
    private mutating func leave() {
        program?.close()
        program = nil
        away = nil
        nextAttempt = 0
        published = lull_nanoseconds_since_boot()
        service.forget()
    }

    private mutating func receive() {
        guard var current = program else { return }
        program = nil
        do throws(Failure) {
            let isOpen = try current.receive()
            var latest: ProgramSnapshot?
            while let line = current.takeLine() { latest = try current.snapshot(line) }
            if let latest {
                away = nil
                publish(latest)
            }
            if !isOpen { throw current.end }
            program = current
        } catch {
            program = current
            lose(error)
        }
    }

    /// Tries again in a while, and tells the pages why there is nothing to see, if that is news.
    private mutating func lose(_ failure: Failure) {
        program?.close()
        program = nil
        nextAttempt = lull_nanoseconds_since_boot() + Self.pause
        if away == failure.message { return }
        away = failure.message
        publish(nil)
    }

    private mutating func publish(_ snapshot: ProgramSnapshot?) {
        published = lull_nanoseconds_since_boot()
        service.publish([
            "path": .text(String(cString: operand)), "version": .text(Help.version), "away": .text(away),
            "program": snapshot?.json ?? .null,
        ])
    }
}

extension ProgramSnapshot {
    /// What the page gets: written anew, since the program may have sent anything between.
    fileprivate var json: JSONValue {
        [
            "process": .number(process), "name": .text(name), "time": .seconds(time), "left": .number(left),
            "debouncers": .array(rows.map(\.json)),
        ]
    }
}

extension ProgramSnapshot.Row {
    fileprivate var json: JSONValue {
        [
            "id": .number(id), "where": .text(place), "kind": .text(kind), "policy": .text(policy),
            "keys": .number(keys), "pending": .number(pending), "waiting": .number(waiting),
            "dueIn": dueIn.map { .seconds($0) } ?? .null, "running": .number(running), "started": .number(started),
            "submitted": .number(submitted), "executed": .number(outcomes.executed),
            "superseded": .number(outcomes.superseded), "absorbed": .number(outcomes.absorbed),
            "cancelled": .number(outcomes.cancelled), "rejected": .number(outcomes.rejected),
            "failed": .number(outcomes.failed), "restarted": .number(outcomes.restarted),
            "overdue": .number(outcomes.overdue),
        ]
    }
}
