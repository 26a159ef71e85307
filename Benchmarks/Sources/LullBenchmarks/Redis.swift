import Foundation
internal import LullCore
import LullDurable
import LullRedis

// Rows: the Redis store against the least that any such queue does: a script of three lines that stores a value and its
// due instant. The floor is measured with `redis-benchmark`, the server's own client, 64 calls in a pipeline.

enum Redis {
    /// A server as most are set up: it syncs every second.
    static func onServer(_ body: (TestRedis) throws -> [Line]) -> [Line] {
        guard TestRedis.isInstalled else {
            let why = "not measured: neither Redis nor Valkey is installed (make test-servers installs one)"
            return [Line(why, Spread(.nan), "")]
        }
        do {
            return try body(TestRedis(["save ''", "appendonly yes", "appendfsync everysec"]))
        } catch {
            return [Line("not measured: \(error)", Spread(.nan), "")]
        }
    }

    static func submits(_ effort: Effort) -> [Line] {
        onServer { server in
            let seconds = effort.rounds > 5 ? 5 : 2
            let url = server.url(durability: nil)
            let store = blocking { try await RedisStore(url: url) }
            _ = blocking {
                try await store.open(Servers.namespace, DurableRules(.debounce(wait: .seconds(36000))))
            }
            let script = try server(
                "SCRIPT", "LOAD",
                """
                redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
                redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
                return ARGV[3]
                """)
            var floors: [Double] = []
            var rates: [Double] = []
            // The first round fills both.
            for round in 0...max(3, effort.rounds / 2) {
                let floor = try server.benchmark(
                    [
                        "-P", "64", "-c", "1", "-r", "10000", "-n", "\(100_000 * seconds)", "EVALSHA", script, "2", "h",
                        "z",
                    ]
                        + ["key-__rand_int__", Servers.value, "1800000000000000"])
                let rate = Servers.rate(of: store, keys: 10_000, seconds: seconds)
                if round > 0 {
                    floors.append(floor)
                    rates.append(rate)
                }
            }
            blocking { await store.close() }
            return [
                Line(
                    "64 tasks at once through one store", Spread(rates), "/s", against: "HSET and ZADD, pipelined",
                    Spread(floors), ratio: Spread(zip(rates, floors).map { $0 / $1 }), target: .ratioAtLeast(0.35))
            ]
        }
    }

    static func runs(_ effort: Effort) -> [Line] {
        onServer { server in
            let count = effort.rounds > 5 ? 100_000 : 20_000
            let url = server.url(durability: nil)
            let store = blocking { try await RedisStore(url: url) }
            var rates: [[Double]] = [[], []]
            for round in 0..<6 {
                _ = blocking {
                    try await store.open(
                        Servers.namespace, Servers.rules(isLimited: round % 2 == 1), changingPolicy: true)
                }
                Servers.fill(store, (0..<count).map { "\(round)-\($0)" })
                rates[round % 2].append(Double(count) / (try Servers.drain(url, processes: 4)))
            }
            let status = blocking { try await store.status() }
            blocking { await store.close() }
            // Each key had one run.
            guard status.map(\.attempts) == [6 * count] else {
                return [Line("not measured: \(status.map(\.attempts)) runs, not \(6 * count)", Spread(.nan), "")]
            }
            return Servers.lines(rates[0], limited: rates[1], target: .figureAtLeast(20_000))
        }
    }
}

extension TestRedis {
    /// The rate of a command, by the server's own client.
    fileprivate func benchmark(_ arguments: [String]) throws -> Double {
        let process = Process()
        process.executableURL = URL(
            fileURLWithPath: (Self.program ?? "").replacing("-server", with: "-benchmark"))
        process.arguments = ["-s", folder + "/socket", "--csv"] + arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let last = text.split(separator: "\n").last?.split(separator: ",") ?? []
        guard last.count > 1, let rate = Double(last[1].filter { $0 != "\"" }) else {
            throw NotStarted(description: "the benchmark printed no rate: \(text)")
        }
        return rate
    }
}
