internal import CLullSockets
internal import Lull
internal import LullCore

/// What a reader gets: a line of JSON about all debouncers and throttlers at one time.
enum Snapshot {
    /// The most of them in a line. Of more, those with the most submits are in it.
    static let limit = 1000
    /// The most keys of which the first due instant is looked up. Beyond, the instant is that of the next wake-up,
    /// which may be earlier.
    private static let keysSearched = 64

    /// The figures of a debouncer, copied under its lock.
    struct Figures {
        let site: String
        let kind: String
        let policy: String
        let number: UInt64
        let counters: Counters
        /// The keys that are remembered.
        let keys: Int
        /// The submits that are due and wait to start.
        let waiting: Int
        /// The executions that run, and that have started so far.
        let running: Int
        let started: UInt64
        /// Until the first value is due; nil if nothing is pending.
        let dueIn: CoreDuration?

        init(_ runtime: RuntimeCore) {
            // The clock may be the user's: it is read without the lock.
            let now = runtime.now
            let copied = runtime.lock.withLock {
                let alarm = runtime.engine.nextAlarm
                let hasFew = runtime.engine.keyCount <= Snapshot.keysSearched
                return (
                    counters: runtime.engine.tally, keys: runtime.engine.keyCount,
                    waiting: runtime.engine.waitingSubmits,
                    running: runtime.engine.runningCount, started: runtime.engine.startCount,
                    due: hasFew ? runtime.engine.nextDue(at: now) : alarm == .farFuture ? nil : alarm
                )
            }
            site = runtime.site.description
            kind = Snapshot.kind(of: runtime)
            policy = PolicyWords.text(runtime.engine.setup, runtime.engine.policy)
            number = runtime.number
            counters = copied.counters
            keys = copied.keys
            waiting = copied.waiting
            running = copied.running
            started = copied.started
            dueIn = copied.due.map { max(.zero, now.duration(to: $0)) }
        }
    }

    /// The name of the type that the program has made, as far as the runtime knows it: a sequence has a debouncer of
    /// its own.
    private static func kind(of runtime: RuntimeCore) -> String {
        let name = runtime.kind == .debounce ? "Debouncer" : "Throttler"
        // The first parameter is the type of the key.
        return _typeName(type(of: runtime), qualified: false).hasPrefix("Runtime<NoKey,") ? name : "Keyed\(name)"
    }

    /// Returns the line about runtimes.
    ///
    /// - Parameter time: Nanoseconds on a clock that only moves forward.
    static func line(about runtimes: [RuntimeCore], at time: Int64) -> [UInt8] {
        var figures = runtimes.map { Figures($0) }
        let left = max(0, figures.count - limit)
        if left > 0 {
            figures.sort { $0.counters.submitted > $1.counters.submitted }
            figures.removeLast(left)
        }
        let snapshot: JSONValue = [
            "lull": .number(1), "process": .number(lull_process()), "name": .string(programName),
            "time": .microseconds(time), "left": .number(left), "debouncers": .array(figures.map(\.json)),
        ]
        return snapshot.line
    }

    /// Returns the line for a reader that is refused.
    static func refusal(_ reason: String) -> [UInt8] {
        let refusal: JSONValue = ["lull": .number(1), "refused": .string(reason)]
        return refusal.line
    }

    private static let programName: String = {
        let path = CommandLine.arguments.first ?? ""
        return path.split(separator: "/").last.map(String.init) ?? path
    }()
}

extension Snapshot.Figures {
    fileprivate var json: JSONValue {
        [
            "id": .number(number), "where": .string(site), "kind": .string(kind), "policy": .string(policy),
            "keys": .number(keys), "pending": .number(counters.pending), "waiting": .number(waiting),
            "dueIn": .microseconds(dueIn?.nanoseconds), "running": .number(running), "started": .number(started),
            "submitted": .number(counters.submitted), "executed": .number(counters.executed),
            "superseded": .number(counters.superseded), "absorbed": .number(counters.absorbed),
            "cancelled": .number(counters.cancelled), "rejected": .number(counters.rejected),
            "failed": .number(counters.failed), "restarted": .number(counters.restarted),
            "overdue": .number(counters.overdue),
        ]
    }
}

extension JSONValue {
    /// Nanoseconds, zero or more, as seconds in whole microseconds; null for nil.
    static func microseconds(_ nanoseconds: Int64?) -> JSONValue {
        guard let nanoseconds else { return .null }
        let (seconds, rest) = (nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000 / 1000)
        // A million more, so that no leading zero is missing.
        return .json(Array("\(seconds).\(String(1_000_000 + rest).dropFirst())".utf8))
    }
}
