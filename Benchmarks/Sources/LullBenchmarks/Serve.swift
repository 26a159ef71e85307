import Allocations
import Foundation
internal import LullCore
import LullDurable

// Row: submits to `lull serve` by wrk, over 64 connections that are kept, against those of 64 tasks with the library.
// Each has a file of its own, and a worker beside it in the second half.

enum Serve {
    static func rows(_ effort: Effort) -> [Line] {
        guard let command = Command.path else { return [Line("not measured: --lull was not given", Spread(.nan), "")] }
        guard
            let wrk = ["/usr/bin/wrk", "/usr/local/bin/wrk", "/opt/homebrew/bin/wrk"].first(
                where: FileManager.default.isExecutableFile)
        else { return [Line("not measured: wrk is not installed", Spread(.nan), "")] }
        return Durable.inDirectory { directory in
            do {
                try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
                return try rows(effort, command, wrk, directory)
            } catch {
                return [Line("not measured: \(error)", Spread(.nan), "")]
            }
        }
    }

    private static func rows(_ effort: Effort, _ command: String, _ wrk: String, _ directory: URL) throws -> [Line] {
        let urls = ["served", "library"].map { "sqlite:\(directory.path)/\($0).db" }
        let script = directory.appending(path: "submit.lua").path
        try Data(
            """
            wrk.method, wrk.body = "POST", "\(Servers.value)"
            local requests = {}
            request = function()
                local key = math.random(1000)
                requests[key] = requests[key] or wrk.format(nil, "/v1/\(Servers.namespace)/key-" .. key)
                return requests[key]
            end
            """.utf8
        ).write(to: URL(fileURLWithPath: script))
        // With a wait of a second, a worker beside it takes each key once a second.
        let stores = try urls.map { url in
            let store = try blockingOpen(url)
            _ = blocking { try await store.open(Servers.namespace, DurableRules(.throttle(interval: .seconds(1)))) }
            return store
        }
        let errors = Pipe()
        let server = try start(command, ["serve", "--store", urls[0], "--listen", "127.0.0.1:0"], errors: errors)
        defer { server.terminate() }
        let line = String(decoding: errors.fileHandleForReading.availableData, as: UTF8.self)
        guard let address = line.firstMatch(of: /http:[^ \n]*/)?.output else { throw CocoaError(.fileReadUnknown) }
        let seconds = effort.rounds > 5 ? 3 : 1
        func round() throws -> (rate: Double, p99: Double) {
            let output = Pipe()
            let process = try start(
                wrk, ["-t1", "-c64", "-d\(seconds)s", "--latency", "-s", script, String(address)], output: output)
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            guard let rate = text.firstMatch(of: /Requests\/sec: *([0-9.]+)/).flatMap({ Double($0.1) }),
                let p99 = text.firstMatch(of: /99% *([0-9.]+)(us|ms|s)/), let time = Double(p99.1),
                !text.contains("Non-2xx")
            else { throw CocoaError(.fileReadUnknown) }
            return (rate, time * (p99.2 == "us" ? 1e-3 : p99.2 == "s" ? 1e3 : 1))
        }
        var taken: (served: [Double], library: [Double], p99: [Double]) = ([], [], [])
        for _ in 0..<max(3, effort.rounds / 2) {
            taken.served.append(try round().rate)
            taken.library.append(Servers.rate(of: stores[1], keys: 1000, seconds: seconds))
        }
        let input = Pipe()
        let worker = try start(
            command, ["filter", "--store", urls[0], "--namespace", Servers.namespace], input: input,
            output: FileHandle.nullDevice)
        for _ in 0..<max(3, effort.rounds / 2) { taken.p99.append(try round().p99) }
        try input.fileHandleForWriting.close()
        worker.terminate()
        worker.waitUntilExit()
        for store in stores { blocking { await store.close() } }
        return [
            Line(
                "submits over 64 connections", Spread(taken.served), "/s", against: "64 tasks", Spread(taken.library),
                ratio: Spread(zip(taken.served, taken.library).map { $0 / $1 }), target: .ratioAtLeast(0.5)),
            Line("the answer, p99, beside a worker", Spread(taken.p99), "ms", target: .figureAtMost(20)),
        ]
    }

    private static func blockingOpen(_ url: String) throws -> any StoreCalls {
        blocking { try await Servers.open(url) }
    }

    private static func start(
        _ program: String, _ arguments: [String], input: Any? = nil, output: Any? = nil, errors: Pipe? = nil
    ) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        if let input { process.standardInput = input }
        if let output { process.standardOutput = output }
        if let errors { process.standardError = errors }
        try process.run()
        return process
    }
}
