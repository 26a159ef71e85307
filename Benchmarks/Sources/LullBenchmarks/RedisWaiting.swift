import LullDurable
import LullRedis

// Rows: submits of several processes to the same keys.

extension Redis {
    /// Four keys to which everybody submits.
    static func hotKeys(_ effort: Effort) -> [Line] {
        onServer { server in
            let url = server.url(durability: nil)
            try open(at: url)
            let seconds = effort.rounds > 5 ? 5 : 2
            var rates: [Double] = []
            var longest: [Double] = []
            for _ in 0..<3 {
                let processes = try Servers.submits(
                    ofProcessesAt: Array(repeating: url, count: 4), keys: 4, seconds: seconds)
                rates.append(processes.reduce(0) { $0 + $1.rate })
                longest.append(processes.map(\.longest).max() ?? .nan)
            }
            return [
                Line("four keys, 4 processes with 64 tasks each", Spread(rates), "/s"),
                Line("the longest wait of one submit", Spread(longest), "ms", target: .figureAtMost(150)),
            ]
        }
    }

    /// A client that is 10 ms away, alone and beside three near ones, on one key.
    static func farClient(_ effort: Effort) -> [Line] {
        onServer { server in
            let proxy = try Proxy(to: server, delay: .milliseconds(10))
            defer { proxy.close() }
            let (near, far) = (server.url(durability: nil), proxy.url(durability: "everysec"))
            try open(at: near)
            let seconds = effort.rounds > 5 ? 5 : 2
            var alone: [Double] = []
            var beside: [Double] = []
            for _ in 0..<3 {
                alone.append(try Servers.submits(ofProcessesAt: [far], keys: 1, seconds: seconds)[0].rate)
                beside.append(
                    try Servers.submits(ofProcessesAt: [far, near, near, near], keys: 1, seconds: seconds)[0].rate)
            }
            return [
                Line(
                    "10 ms away, beside three near ones on a key", Spread(beside), "/s", against: "alone",
                    Spread(alone),
                    ratio: Spread(zip(beside, alone).map { $0 / $1 }), target: .ratioAtLeast(0.33))
            ]
        }
    }

    private static func open(at url: String) throws {
        blocking {
            let store = try await RedisStore(url: url)
            _ = try await store.open(Servers.namespace, DurableRules(.debounce(wait: .seconds(36000))))
            await store.close()
        }
    }
}
