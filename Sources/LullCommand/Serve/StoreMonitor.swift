internal import CLullCommand
internal import Lull
internal import LullCore
internal import LullDurable
internal import LullHTTP
internal import LullInspection

/// Looks at the store for all pages that are open: once a second, however many they are, and now and then without any.
///
/// What it sees goes to the pages as events. It also remembers what the counters of each namespace were, for the rates
/// of the last minutes and for the headline of the day.
final class StoreMonitor: Sendable {
    /// How often it looks while a page is open, and while none is.
    private static let pace = (open: Duration.seconds(1), closed: Duration.seconds(10))
    /// How many keys, dead runs and samples a page gets.
    private static let most = (keys: 200, dead: 50, samples: 90)
    /// How far apart samples are.
    private static let sampling = Duration.seconds(10)
    /// After how long without news a stream says that it lives.
    private static let silence = Duration.seconds(15)

    private let store: any WatchedStore
    private let namespaces: [String]
    private let state = Guarded(State())
    private let task = Guarded<Task<Void, Never>?>(nil)

    private struct State {
        var viewers: [ObjectIdentifier: Viewer] = [:]
        /// What the pages have got, by the namespace that they show in detail.
        var shown: [String?: Shown] = [:]
        var instants: [String: StableInstants] = [:]
        /// The number of the last content that differed from the one before.
        var number = 0
        var history: [String: History] = [:]
        /// When the store last answered.
        var answered: ContinuousClock.Instant?
        /// Continued when somebody opens a page.
        var resting: CheckedContinuation<Void, Never>?
    }

    private struct Viewer {
        let stream: EventStream
        /// The namespace that the page shows in detail; nil for the first one.
        let namespace: String?
        /// What was sent last, and when.
        var sent: News?
        var sentAt = ContinuousClock.now

        /// Tells the page something unless it knows, or else now and then that the server lives.
        mutating func tell(_ news: News, _ event: EventStream.Event?) {
            if sent == news {
                guard sentAt + StoreMonitor.silence < .now else { return }
                stream.keepAlive()
            } else {
                // A page that has been opened in between gets the next one.
                guard let event else { return }
                stream.publish(event)
            }
            (sent, sentAt) = (news, .now)
        }
    }

    /// What a page is told.
    private enum News: Equatable {
        /// Content with a number.
        case content(Int)
        /// The store is away, and why.
        case away(String)
    }

    private struct Shown {
        let number: Int
        let content: StoreSnapshot
        /// The last look that has found it, in nanoseconds since 1970.
        var seen: Int64
    }

    init(_ store: any WatchedStore, namespaces: [String]) {
        (self.store, self.namespaces) = (store, namespaces)
    }

    var viewers: Int {
        state.change { state in
            state.viewers = state.viewers.filter { !$0.value.stream.isGone }
            return state.viewers.count
        }
    }

    func begin() {
        task.change { task in
            task = Task.detached { [self] in
                while !Task.isCancelled {
                    await look()
                    await rest()
                }
            }
        }
    }

    func end() {
        task.exchange(nil)?.cancel()
        wake()
    }

    /// Adds a page, and looks at once.
    func add(_ stream: EventStream, showing namespace: String?) {
        state.change { $0.viewers[ObjectIdentifier(stream)] = Viewer(stream: stream, namespace: namespace) }
        wake()
    }

    private func wake() { state.change { $0.resting.take() }?.resume() }

    /// Waits for the next look. A page that is opened while none is ends it early.
    private func rest() async {
        if viewers > 0 {
            try? await Task.sleep(for: Self.pace.open)
            return
        }
        let timer = Task {
            try? await Task.sleep(for: Self.pace.closed)
            wake()
        }
        await withCheckedContinuation { continuation in
            let isNeeded = state.change { state in
                let isNeeded = state.viewers.isEmpty && !Task.isCancelled
                if isNeeded { state.resting = continuation }
                return isNeeded
            }
            if !isNeeded { continuation.resume() }
        }
        timer.cancel()
    }

    // MARK: - A look

    /// Throws unless the store answers: now, or less than a second ago, so that frequent questions make no work for it.
    func check() async throws(DurableError) {
        if let answered = state.change({ $0.answered }), answered + Self.pace.open > .now { return }
        // Only a file can be deleted under its users: it can still be read, and takes no submit.
        try await store.check()
        _ = try await status()
    }

    /// Returns the namespaces that are served.
    func status() async throws(DurableError) -> [DurableStatus] {
        let all = try await store.status()
        state.change { $0.answered = .now }
        return namespaces.isEmpty ? all : all.filter { namespaces.contains($0.namespace) }
    }

    private func look() async {
        let shown = state.change { state in Set(state.viewers.values.map(\.namespace)) }
        do throws(DurableError) {
            let all = try await status()
            note(all)
            if shown.isEmpty { return }
            let names = Set(all.map(\.namespace))
            var instants = state.change { $0.instants.filter { names.contains($0.key) } }
            let namespaces = all.map { member(of: $0, &instants[$0.namespace, default: StableInstants()]) }
            let health = try await store.health() ?? []
            let common: [StoreSnapshot.List] = [
                Self.figures, .init("health", health.map(\.listed)), .init("namespaces", namespaces),
            ]
            var details: [String: [StoreSnapshot.List]] = [:]
            for namespace in Set(shown.compactMap { $0 ?? all.first?.namespace }) where names.contains(namespace) {
                details[namespace] = try await detail(of: namespace, &instants[namespace, default: StableInstants()])
            }
            state.change { $0.instants = instants }
            var contents: [String?: StoreSnapshot] = [:]
            for chosen in shown {
                let namespace = (chosen ?? all.first?.namespace).flatMap { names.contains($0) ? $0 : nil }
                contents[chosen] = StoreSnapshot(
                    common: common, detail: namespace.flatMap { details[$0] } ?? [], namespace: namespace)
            }
            send(contents)
        } catch {
            send(away: "\(error.ofQuestion)")
        }
    }

    /// Sends each page what it shows, if that is news.
    private func send(_ contents: [String?: StoreSnapshot]) {
        let now = Self.now
        let (viewers, before, last) = state.change { ($0.viewers.values, $0.shown, $0.number) }
        var number = last
        var shown: [String?: Shown] = [:]
        // Pages that show the same share its bytes: there can be thousands, and some read slowly.
        var events: [String?: EventStream.Event] = [:]
        for (namespace, content) in contents {
            let old = before[namespace]
            if let old, old.content == content {
                shown[namespace] = Shown(number: old.number, content: content, seen: now)
            } else {
                number += 1
                shown[namespace] = Shown(number: number, content: content, seen: now)
            }
            let news = News.content(shown[namespace]?.number ?? number)
            if !viewers.contains(where: { $0.namespace == namespace && $0.sent != news }) { continue }
            events[namespace] = EventStream.Event(
                "look", content.whole(at: now), number: shown[namespace]?.number,
                change: old.map { (content.change(from: $0.content, at: now, seen: $0.seen), after: $0.number) })
        }
        state.change { state in
            (state.shown, state.number) = (shown, number)
            for (id, viewer) in state.viewers {
                guard let number = shown[viewer.namespace]?.number else { continue }
                state.viewers[id]?.tell(.content(number), events[viewer.namespace])
            }
        }
    }

    /// Tells each page that the store is away.
    private func send(away why: String) {
        let data: JSONValue = ["at": .instant(Self.now), "away": .text(why)]
        let event = EventStream.Event("look", data.text)
        state.change { state in
            for id in state.viewers.keys { state.viewers[id]?.tell(.away(why), event) }
        }
    }

    private static var now: Int64 { StoreClock.system.read().wall.nanoseconds }

    /// The names and sentences of the figures, as `lull status` has them.
    private static let figures = StoreSnapshot.List(
        "figures",
        DurableStatus.figures.map { figure, _ in
            [
                "property": .text(figure.property), "name": .text(figure.name), "help": .text(figure.help),
                "unit": .text("\(figure.unit)"), "counter": .bool(figure.isCounter),
            ]
        })

    private func member(of status: DurableStatus, _ instants: inout StableInstants) -> JSONValue {
        instants.begin()
        var members: [(String, JSONValue)] = [
            ("namespace", .text(status.namespace)),
            ("rules", .text(PolicyOptions.text(status.rules, besides: status.rules))),
        ]
        members += status.json(&instants, at: Self.now)
        if let history = state.change({ $0.history[status.namespace] }) {
            members += [("today", history.today(status)), ("countedSince", .seconds(history.begun))]
        }
        return .object(members)
    }

    private func detail(
        of namespace: String, _ instants: inout StableInstants
    ) async throws(DurableError) -> [StoreSnapshot.List] {
        // Each time is read when the answer has come.
        let keys = try await store.upcoming(in: namespace, limit: Self.most.keys)
        var now = Self.now
        let listings = keys.map { $0.json(&instants, at: now) }
        let workers = try await store.workers(in: namespace)
        now = Self.now
        let shownWorkers = workers.map { $0.json(&instants, at: now) }
        let dead = try await store.deadRuns(
            matching: .all, in: namespace, newestFirst: true, limit: Self.most.dead, withValues: false)
        now = Self.now
        let shownDead = dead.map { $0.json(&instants, at: now) }
        let rates = state.change { $0.history[namespace]?.rates } ?? []
        return [
            .init("keys", listings), .init("workers", shownWorkers), .init("dead", shownDead), .init("rates", rates),
        ]
    }

    // MARK: - The past

    /// Remembers the counters.
    private func note(_ all: [DurableStatus]) {
        let wall = Self.now
        state.change { state in
            for status in all {
                state.history[status.namespace, default: History(status, at: wall)].note(status, at: wall)
            }
            state.history = state.history.filter { name, _ in all.contains { $0.namespace == name } }
        }
    }

    /// What the counters of a namespace were.
    private struct History {
        struct Sample {
            /// Nanoseconds since 1970.
            let time: Int64
            let runs: Int
            let executed: Int
            let failures: Int

            init(_ status: DurableStatus, at time: Int64) {
                self.time = time
                (runs, executed, failures) = (status.runs, status.executed, status.failures)
            }
        }

        /// When it was first seen, in nanoseconds since 1970: what was before is not counted.
        let begun: Int64
        /// Those of the last minutes, the oldest first.
        private var samples: [Sample]
        /// The first one of the day.
        private var morning: Sample
        private var day: Int

        init(_ status: DurableStatus, at time: Int64) {
            let first = Sample(status, at: time)
            (begun, samples, morning, day) = (time, [first], first, Self.day(of: time))
        }

        mutating func note(_ status: DurableStatus, at time: Int64) {
            let sample = Sample(status, at: time)
            // A namespace that was forgotten and made again counts from zero.
            if sample.runs < morning.runs { (samples, morning) = ([], sample) }
            if Self.day(of: time) != day { (morning, day) = (sample, Self.day(of: time)) }
            if let last = samples.last, time - last.time < CoreDuration(StoreMonitor.sampling).nanoseconds { return }
            samples.append(sample)
            if samples.count > StoreMonitor.most.samples + 1 { samples.removeFirst() }
        }

        /// The day of an instant in the time zone of this machine.
        private static func day(of time: Int64) -> Int {
            var seconds = time_t(time / 1_000_000_000)
            var parts = tm()
            guard localtime_r(&seconds, &parts) != nil else { return 0 }
            return Int(parts.tm_year) * 366 + Int(parts.tm_yday)
        }

        func today(_ status: DurableStatus) -> JSONValue {
            [
                "since": .seconds(morning.time), "runs": .number(status.runs - morning.runs),
                "executed": .number(status.executed - morning.executed),
            ]
        }

        /// What each sample counts more than the one before.
        var rates: [JSONValue] {
            zip(samples, samples.dropFirst()).map { before, after in
                [
                    "at": .seconds(after.time), "executed": .number(after.executed - before.executed),
                    "runs": .number(after.runs - before.runs), "failures": .number(after.failures - before.failures),
                ]
            }
        }
    }
}

extension MeasuredFigure {
    /// The figure of a server, with what explains it.
    fileprivate var listed: JSONValue {
        [
            "name": .text(figure.name), "value": json, "unit": .text("\(figure.unit)"), "help": .text(figure.help),
        ]
    }
}
