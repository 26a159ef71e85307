import Foundation
internal import LullCore
import LullDurable
import LullPostgres
import LullRedis
import LullSQLite

// What rows about stores, most of them on servers, share.

enum Servers {
    static let namespace = "bench"
    static let value = String(repeating: "v", count: 100)

    static func open(_ url: String) async throws -> any StoreCalls {
        if url.hasPrefix("sqlite:") { return try await SQLiteStore(path: String(url.dropFirst("sqlite:".count))) }
        return url.hasPrefix("redis") ? try await RedisStore(url: url) : try await PostgresStore(url: url)
    }

    /// Rules by which everything is due at once, and the same with a limit that never keeps anything waiting.
    static func rules(isLimited: Bool) throws -> DurableRules {
        try DurableRules(
            .debounce(for: .zero), combination: .latest, maxBatch: nil,
            limit: isLimited ? RateLimit(1_000_000, per: .seconds(1), burst: 100_000) : nil)
    }

    /// The lines about claims without and with such a limit, in turns.
    static func lines(_ plain: [Double], limited: [Double], target: Line.Target) -> [Line] {
        [
            Line("claim and complete, 4 processes", Spread(plain), "/s", target: target),
            Line(
                "the same with a limit that never binds", Spread(limited), "/s", against: "without a limit",
                Spread(plain), ratio: Spread(zip(limited, plain).map { $0 / $1 }), target: .ratioAtLeast(0.8)),
        ]
    }

    /// Submits a value to each of these keys, from 64 tasks.
    static func fill(_ store: any StoreCalls, _ keys: [String]) {
        let value = Array(value.utf8)
        blocking {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<64 {
                    group.addTask {
                        for index in stride(from: task, to: keys.count, by: 64) {
                            let key = Array(keys[index].utf8)
                            _ = try await store.submit(DurableSubmission(namespace: namespace, key: key, value: value))
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    /// 64 tasks that submit, each one after the other.
    static func rate(of store: any StoreCalls, keys: Int, seconds: Int) -> Double {
        submits(to: store, keys: keys, seconds: seconds).rate
    }

    /// The rate of 64 tasks that submit, each one after the other, and the longest wait of them, in milliseconds.
    static func submits(
        to store: any StoreCalls, keys: Int, seconds: Int
    ) -> (rate: Double, longest: Double) {
        let value = Array(value.utf8)
        let end = ContinuousClock.now + .seconds(seconds)
        let (count, longest) = blocking {
            try await withThrowingTaskGroup(of: (Int, Duration).self) { group in
                for task in 0..<64 {
                    group.addTask {
                        var state = UInt64(task) &* 0x9E37_79B9_7F4A_7C15
                        var count = 0
                        var longest = Duration.zero
                        var now = ContinuousClock.now
                        while now < end {
                            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                            let key = Array("key-\(1 + (state >> 33) % UInt64(keys))".utf8)
                            _ = try await store.submit(DurableSubmission(namespace: namespace, key: key, value: value))
                            count += 1
                            let then = ContinuousClock.now
                            longest = max(longest, then - now)
                            now = then
                        }
                        return (count, longest)
                    }
                }
                return try await group.reduce((0, .zero)) { ($0.0 + $1.0, max($0.1, $1.1)) }
            }
        }
        let (whole, rest) = longest.components
        return (Double(count) / Double(seconds), Double(whole) * 1000 + Double(rest) / 1e15)
    }

    /// The rate of one task for each of some stores, which submits to it, one after the other.
    static func rate(ofCallsTo stores: [any StoreCalls], keys: Int, seconds: Int) -> Double {
        let value = Array(value.utf8)
        let end = ContinuousClock.now + .seconds(seconds)
        let count = blocking {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for store in stores {
                    group.addTask {
                        var count = 0
                        while ContinuousClock.now < end {
                            let key = Array("key-\(Int.random(in: 1...keys))".utf8)
                            _ = try await store.submit(DurableSubmission(namespace: namespace, key: key, value: value))
                            count += 1
                        }
                        return count
                    }
                }
                return try await group.reduce(0, +)
            }
        }
        return Double(count) / Double(seconds)
    }

    /// The rate of several processes, each with a store and 64 tasks.
    static func rate(ofProcesses count: Int, at url: String, keys: Int, seconds: Int) throws -> Double {
        try submits(ofProcessesAt: Array(repeating: url, count: count), keys: keys, seconds: seconds)
            .reduce(0) { $0 + $1.rate }
    }

    /// The rates of several processes at once, each with a store at a URL and 64 tasks, and their longest waits.
    static func submits(
        ofProcessesAt urls: [String], keys: Int, seconds: Int
    ) throws -> [(rate: Double, longest: Double)] {
        let processes = try urls.map { url in
            let process = Process()
            process.executableURL = Bundle.main.executableURL
            process.arguments = ["--submit-to-server", url, "\(keys)", "\(seconds)"]
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            return (process, output)
        }
        return processes.map { process, output in
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            let figures = text.split(separator: " ").map { Double($0) ?? .nan }
            return (figures.first ?? .nan, figures.last ?? .nan)
        }
    }

    /// Submits from 64 tasks, and prints the rate and the longest wait: the work of the other processes.
    static func submit(_ url: String, keys: Int, seconds: Int) -> Never {
        let store = blocking { try await open(url) }
        let (rate, longest) = submits(to: store, keys: keys, seconds: seconds)
        print(rate, longest, terminator: "")
        exit(0)
    }

    /// Lets processes claim and complete all that is due, and returns how many seconds that took.
    static func drain(_ url: String, processes: Int) throws -> Double {
        let start = ContinuousClock.now
        let workers = try (0..<processes).map { _ in
            let worker = Process()
            worker.executableURL = Bundle.main.executableURL
            worker.arguments = ["--work-on-server", url]
            try worker.run()
            return worker
        }
        for worker in workers { worker.waitUntilExit() }
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        return Double(seconds) + Double(attoseconds) / 1e18
    }

    /// Claims and completes runs until nothing is left: the work of the other processes.
    static func work(_ url: String) -> Never {
        blocking {
            let store = try await open(url)
            let owner = Int64.random(in: 1...Int64.max)
            let terms = DurableClaim.Terms(owner: owner, lease: .seconds(3600), maxAttempts: 3)
            var reports: [DurableReport] = []
            while true {
                let claim = DurableClaim(namespace: namespace, terms: terms, limit: 64)
                let exchange = await store.exchange(reports, claim)
                guard let answer = try exchange.claim?.get() else { break }
                if answer.runs.isEmpty, try await store.status().allSatisfy({ $0.ready + $0.pending + $0.running == 0 })
                {
                    break
                }
                reports = answer.runs.map { run in
                    DurableReport(
                        namespace: namespace, key: run.key, run: run.number, fence: run.fence, owner: owner, .completed)
                }
            }
            await store.close()
        }
        exit(0)
    }
}
