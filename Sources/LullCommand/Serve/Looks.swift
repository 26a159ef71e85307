internal import CLullCommand
internal import Lull
internal import LullCore
internal import LullDurable
internal import LullHTTP

/// Looks at the store for all pages that are open: once a second, however many they are, and now and then without any.
///
/// What it sees goes to the pages as events. It also remembers what the counters of each namespace were, for the rates of the last minutes
/// and for the headline of the day.
final class Looks: Sendable {
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
        /// What was sent last, without its time, and when.
        var sent: [UInt8] = []
        var sentAt = ContinuousClock.now
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

    /// Throws unless the store answers: now, or less than a second ago, so that whoever asks often makes no work for it.
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
            let health = try await store.health() ?? []
            var details: [String: [(String, JSONValue)]] = [:]
            for namespace in Set(shown.compactMap { $0 ?? all.first?.namespace })
            where all.contains(where: { $0.namespace == namespace }) {
                details[namespace] = try await detail(of: namespace)
            }
            let common: [(String, JSONValue)] = [
                ("away", .null), ("figures", Self.figures), ("health", .array(health.map(\.listed))),
                ("namespaces", .array(all.map { member(of: $0) })),
            ]
            send { namespace in
                let detail = (namespace ?? all.first?.namespace).flatMap { details[$0] }
                return common + [("detail", detail.map { .object($0) } ?? .null)]
            }
        } catch {
            send { _ in [("away", .text("\(error.ofQuestion)"))] }
        }
    }

    /// Sends each page what it shows, if that is news.
    private func send(_ members: (_ namespace: String?) -> [(String, JSONValue)]) {
        // Pages that show the same share its bytes: there can be thousands, and some read slowly.
        var made: [String?: (content: [UInt8], event: EventStream.Event)] = [:]
        let now = Self.seconds(StoreClock.system.read().wall.nanoseconds)
        let viewers = state.change { $0.viewers }
        for (id, viewer) in viewers {
            let (content, event) =
                made[viewer.namespace]
                ?? {
                    var content: [UInt8] = []
                    JSONValue.object(members(viewer.namespace)).append(to: &content)
                    // The time comes first in an object that is otherwise compared with the last one.
                    return (content, EventStream.Event("look", Array("{\"at\":\(now),".utf8) + content.dropFirst()))
                }()
            made[viewer.namespace] = (content, event)
            if content == viewer.sent {
                guard viewer.sentAt + Self.silence < .now else { continue }
                viewer.stream.keepAlive()
            } else {
                viewer.stream.publish(event)
            }
            state.change { state in
                state.viewers[id]?.sent = content
                state.viewers[id]?.sentAt = .now
            }
        }
    }

    private static func seconds(_ nanoseconds: Int64) -> String {
        var text: [UInt8] = []
        DecimalSeconds.append(nanoseconds / 1_000_000 * 1_000_000, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// The names and sentences of the figures, as `lull status` has them.
    private static let figures = JSONValue.array(
        DurableStatus.figures.map { figure, _ in
            [
                "property": .text(figure.property), "name": .text(figure.name), "help": .text(figure.help),
                "unit": .text("\(figure.unit)"), "counter": .bool(figure.isCounter),
            ]
        })

    private func member(of status: DurableStatus) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("namespace", .text(status.namespace)),
            ("rules", .text(PolicyOptions.text(status.rules, besides: status.rules))),
        ]
        members += status.measures.map { ($0.figure.property, $0.json) } + status.pauseMembers
        if let today = state.change({ $0.history[status.namespace]?.today(status) }) {
            members.append(("today", today))
        }
        return .object(members)
    }

    private func detail(of namespace: String) async throws(DurableError) -> [(String, JSONValue)] {
        let keys = try await store.upcoming(in: namespace, limit: Self.most.keys)
        let workers = try await store.workers(in: namespace)
        let dead = try await store.deadRuns(matching: .all, in: namespace, newestFirst: true, limit: Self.most.dead)
        let rates = state.change { $0.history[namespace]?.rates } ?? []
        return [
            ("namespace", .text(namespace)), ("keys", .array(keys.map(\.json))),
            ("workers", .array(workers.map(\.json))),
            ("dead", .array(dead.map { $0.json(withValues: false) })), ("rates", .array(rates)),
        ]
    }

    // MARK: - The past

    /// Remembers the counters.
    private func note(_ all: [DurableStatus]) {
        let wall = StoreClock.system.read().wall.nanoseconds
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

        /// Those of the last minutes, the oldest first.
        private var samples: [Sample]
        /// The first one of the day.
        private var morning: Sample
        private var day: Int

        init(_ status: DurableStatus, at time: Int64) {
            let first = Sample(status, at: time)
            (samples, morning, day) = ([first], first, Self.day(of: time))
        }

        mutating func note(_ status: DurableStatus, at time: Int64) {
            let sample = Sample(status, at: time)
            // A namespace that was forgotten and made again counts from zero.
            if sample.runs < morning.runs { (samples, morning) = ([], sample) }
            if Self.day(of: time) != day { (morning, day) = (sample, Self.day(of: time)) }
            if let last = samples.last, time - last.time < CoreDuration(Looks.sampling).nanoseconds { return }
            samples.append(sample)
            if samples.count > Looks.most.samples + 1 { samples.removeFirst() }
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

extension Measure {
    /// The figure of a server, with what explains it.
    fileprivate var listed: JSONValue {
        [
            "name": .text(figure.name), "value": json, "unit": .text("\(figure.unit)"), "help": .text(figure.help),
        ]
    }
}
