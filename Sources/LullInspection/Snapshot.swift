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
        var line = JSONLine()
        line.object {
            $0.member("lull", 1)
            $0.member("process", lull_process())
            $0.member("name", programName)
            $0.member("time", seconds: time)
            $0.member("left", left)
            $0.array("debouncers", of: figures) { $0.append($1) }
        }
        return line.bytes + [UInt8(ascii: "\n")]
    }

    /// Returns the line for a reader that is refused.
    static func refusal(_ reason: String) -> [UInt8] {
        var line = JSONLine()
        line.object {
            $0.member("lull", 1)
            $0.member("refused", reason)
        }
        return line.bytes + [UInt8(ascii: "\n")]
    }

    private static let programName: String = {
        let path = CommandLine.arguments.first ?? ""
        return path.split(separator: "/").last.map(String.init) ?? path
    }()
}

extension JSONLine {
    fileprivate mutating func append(_ figures: Snapshot.Figures) {
        object {
            $0.member("id", figures.number)
            $0.member("where", figures.site)
            $0.member("kind", figures.kind)
            $0.member("policy", figures.policy)
            $0.member("keys", figures.keys)
            $0.member("pending", figures.counters.pending)
            $0.member("waiting", figures.waiting)
            $0.member("dueIn", seconds: figures.dueIn?.nanoseconds)
            $0.member("running", figures.running)
            $0.member("started", figures.started)
            $0.member("submitted", figures.counters.submitted)
            $0.member("executed", figures.counters.executed)
            $0.member("superseded", figures.counters.superseded)
            $0.member("absorbed", figures.counters.absorbed)
            $0.member("cancelled", figures.counters.cancelled)
            $0.member("rejected", figures.counters.rejected)
            $0.member("failed", figures.counters.failed)
            $0.member("restarted", figures.counters.restarted)
        }
    }
}
