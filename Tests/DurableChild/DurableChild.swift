internal import Foundation
internal import LullCore
internal import LullDurable
internal import LullPostgres
internal import LullRedis
internal import LullSQLite

/// A process that uses a store until it is killed, for tests of what is left.
///
/// `DurableChild submit|work|restart|hold|limited|answer STORE LOG NAME` writes what it knows to the log, each line
/// with one write, so that the lines survive the process.
@main
enum DurableChild {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let log = Log(arguments[3]) else { exit(64) }
        do {
            if arguments[1] == "answer" { return try await answer(at: arguments[2], log) }
            if arguments[1] == "limited" { return try await limited(by: arguments[2], log, arguments[4]) }
            let store = try await SQLiteStore(path: arguments[2])
            switch arguments[1] {
            case "submit": try await submit(to: store, log, arguments[4])
            case "work": try await work(on: store, log, arguments[4])
            case "restart": try await restart(on: store, log, arguments[4])
            case "hold": try await hold(store, at: arguments[2], log, arguments[4])
            default: exit(64)
            }
        } catch {
            log.write("error: \(error)")
            exit(74)
        }
    }

    /// Submits without pause. Writes `? VALUE` before a submit, and `+ VALUE` after its acknowledgement.
    private static func submit(to store: SQLiteStore, _ log: Log, _ name: String) async throws {
        let debouncer = try await DurableDebouncer<String, String>(namespace: "kill", in: store)
        try await withThrowingTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    for serial in 0... {
                        let value = "\(name).\(task).\(serial)"
                        log.write("? \(value)")
                        try await debouncer.submit(value, for: "key \((serial &* 7 &+ task) % 40)", token: value)
                        log.write("+ \(value)")
                    }
                }
            }
            try await group.waitForAll()
        }
        log.write("! \(name) ended")
    }

    /// Works without end. Writes a line for each start of the handler.
    private static func work(on store: SQLiteStore, _ log: Log, _ name: String) async throws {
        let debouncer = try await DurableDebouncer<String, String>(namespace: "kill", in: store)
        try await debouncer.run(lease: .seconds(5), grace: .seconds(1)) { run in
            let range = "\(run.submits.lowerBound) \(run.submits.upperBound)"
            log.write("\(name) \(run.runID) \(run.attempt) \(run.key) \(range) \(run.values.joined(separator: ","))")
        }
    }

    /// Works without end with handlers that take a while, and a while longer when they are interrupted. Writes a line
    /// for each start, interruption and end.
    private static func restart(on store: SQLiteStore, _ log: Log, _ name: String) async throws {
        let debouncer = try await DurableDebouncer<String, String>(namespace: "kill", in: store)
        try await debouncer.run(lease: .seconds(2), grace: .milliseconds(500)) { run in
            let text = "\(name) \(run.runID) \(run.key) \(run.submits.lowerBound) \(run.submits.upperBound) "
            log.write("start " + text + run.values.joined(separator: ","))
            do { try await Task.sleep(for: .milliseconds(20)) } catch {
                log.write("interrupted " + text)
                await Task { try? await Task.sleep(for: .milliseconds(30)) }.value
                throw error
            }
            log.write("end " + text)
        }
    }

    /// Works without end in a namespace with limits, at a file or the URL of a server. Writes a line for each start,
    /// with the instant that counts and those before and after the call, and one before each report.
    private static func limited(by url: String, _ log: Log, _ name: String) async throws {
        let store = try await open(url).calls
        let terms = DurableClaim.Terms(
            owner: .random(in: 1 ... .max), lease: .milliseconds(300), maxAttempts: 1_000_000)
        var reports: [DurableReport] = []
        while true {
            let claim = DurableClaim(
                namespace: "kill", terms: terms, holding: reports.map(\.run), limit: .random(in: 1...8))
            let before = now()
            guard let answer = try await store.exchange(reports, claim).claim?.get() else { return }
            let after = now()
            reports = answer.runs.map { run in
                DurableReport(
                    namespace: "kill", key: run.key, run: run.number, fence: run.fence, owner: terms.owner, .completed)
            }
            for run in answer.runs {
                let instant = (answer.now?.nanoseconds ?? 0) / 1000
                log.write("start \(run.id) \(run.attempt) \(run.fence) \(instant) \(before) \(after) \(name)")
            }
            if answer.runs.isEmpty {
                let time = min(answer.next ?? .seconds(1), .seconds(1))
                try await store.wait(in: "kill", after: answer.mark, atMost: time)
            } else {
                try await Task.sleep(for: .milliseconds(.random(in: 1...20)))
                for run in answer.runs { log.write("end \(run.id) \(run.attempt) \(run.fence) \(now())") }
            }
        }
    }

    private static func open(_ url: String) async throws -> any DurableStore {
        switch url.split(separator: ":").first {
        case "postgres": try await PostgresStore(url: url)
        case "redis", "redis+unix": try await RedisStore(url: url)
        default: try await SQLiteStore(path: url)
        }
    }

    /// Works without end, at a file or the URL of a server. Its handlers hang, snooze, fail and give up at random.
    /// Writes a line with the instant for each start, one for each that hangs, and one for each end that is a return.
    private static func answer(at url: String, _ log: Log) async throws {
        let debouncer = try await DurableDebouncer<String, String>(namespace: "kill", in: try await open(url))
        let retry = RetryPolicy(initialDelay: .milliseconds(1), maxDelay: .milliseconds(9), maxAttempts: 1_000_000)
        try await debouncer.run(
            maxConcurrent: 32, lease: .seconds(1), retry: retry, timeLimit: .milliseconds(100), onFailure: { _ in }
        ) { run in
            let values = run.values.joined(separator: ",")
            let text = "\(run.runID) \(run.fence) \(run.key) \(values)"
            log.write("start \(now()) \(text)")
            switch Int.random(in: 0..<40) {
            case 0...7: throw Snooze(for: .milliseconds(.random(in: 0...9)))
            case 8: throw RetryAfter(.milliseconds(.random(in: 0...9)))
            case 9: throw GiveUp("given up")
            case 10: throw PauseFor(.milliseconds(2))
            case 11:
                // It does not react, for longer than its lease is renewed.
                log.write("hang \(now()) \(text)")
                await Task.detached { try? await Task.sleep(for: .milliseconds(.random(in: 150...3000))) }.value
            default: try await Task.sleep(for: .milliseconds(.random(in: 0...5)))
            }
            log.write("end \(now()) \(text)")
        }
    }

    /// The time of the machine, in microseconds, the same for all processes.
    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    /// Claims one run for a short time. When a file of the given name appears, sends the reports that it names:
    /// heartbeat, interrupted, or completed, which an empty file stands for.
    private static func hold(
        _ store: SQLiteStore, at path: String, _ log: Log, _ name: String
    ) async throws {
        let terms = DurableClaim.Terms(
            owner: .random(in: 1 ... .max), lease: .milliseconds(50), maxAttempts: 1_000_000)
        let claim = DurableClaim(namespace: "kill", terms: terms, limit: 1)
        var run = try await store.claim(claim).runs.first
        while run == nil {
            try await Task.sleep(for: .milliseconds(2))
            run = try await store.claim(claim).runs.first
        }
        guard let run else { return }
        // A process that is stopped in the middle of a transaction would lock out all others.
        await store.close()
        log.write("claimed \(run.id) \(run.fence)")
        while !FileManager.default.fileExists(atPath: name) { try await Task.sleep(for: .milliseconds(2)) }
        let names = try String(contentsOfFile: name, encoding: .utf8).split(separator: " ")
        let again = try await SQLiteStore(path: path)
        for kind in names.isEmpty ? ["completed"] : names {
            let kind: DurableReport.Kind =
                switch kind {
                case "heartbeat": .heartbeat(lease: .seconds(60))
                case "interrupted": .interrupted
                default: .completed
                }
            let report = DurableReport(
                namespace: "kill", key: run.key, run: run.number, fence: run.fence, owner: terms.owner, kind)
            log.write("answer \(try await again.report(report))")
        }
    }
}

/// A file to which lines are added. They survive if the process is killed right after.
struct Log: Sendable {
    private let descriptor: Int32

    init?(_ path: String) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o644)
        if descriptor < 0 { return nil }
    }

    func write(_ line: String) {
        var line = line + "\n"
        let count = line.utf8.count
        let written = line.withUTF8 { Foundation.write(descriptor, $0.baseAddress, count) }
        if written != count { exit(74) }
    }
}
