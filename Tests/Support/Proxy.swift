import Foundation
import Lull

/// A socket before a server's, through which the connections of a store pass: they can be cut, lose their answers, or
/// fall silent.
package final class Proxy: Sendable {
    /// What happens to what comes from the server.
    package enum Mode: Sendable {
        case forwards
        /// What has this text is thrown away, and the connection is cut: the client does not learn what was committed.
        case losesAnswers(with: String)
        /// The same with one in twenty.
        case losesSomeAnswers
        /// Nothing passes in either direction, and nothing is closed.
        case isSilent
    }

    private struct State: Sendable {
        var mode = Mode.forwards
        var connections: [(client: Int32, server: Int32)] = []
        var answers = 0
        var lost = 0

        /// Returns whether an answer is thrown away.
        mutating func losesAnswer(_ bytes: ArraySlice<UInt8>) -> Bool {
            answers += 1
            let isLost =
                switch mode {
                case .forwards, .isSilent: false
                case .losesAnswers(let text): bytes.firstRange(of: Array(text.utf8)) != nil
                case .losesSomeAnswers: answers % 20 == 0
                }
            if isLost { lost += 1 }
            return isLost
        }
    }

    /// The folder with its socket, whose name is that of the server's.
    package let folder: String
    private let name: String
    private let target: String
    private let listener: Int32
    /// How far away the server is: answers come so much later.
    private let delay: Duration
    private let state = Guarded(State())
    private let changed = NSCondition()

    package convenience init(to server: TestServer) throws { try self.init(server.folder, ".s.PGSQL.5432") }
    package convenience init(to server: TestRedis, delay: Duration = .zero) throws {
        try self.init(server.folder, "socket", delay: delay)
    }

    private init(_ parent: String, _ name: String, delay: Duration = .zero) throws {
        self.delay = delay
        folder = parent + "/proxy-" + UUID().uuidString.prefix(6)
        self.name = name
        target = parent + "/" + name
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        listener = streamSocket(AF_UNIX)
        guard Self.withAddress(folder + "/" + name, { bind(listener, $0, $1) }) == 0, listen(listener, 64) == 0
        else {
            throw TestServer.NotStarted(description: "no socket for the proxy")
        }
        Thread.detachNewThread { [self] in accepts() }
    }

    /// The URL of a schema of a database, through the proxy.
    package func url(_ schema: String) -> String { "postgres://lull@/postgres?host=\(folder)&schema=\(schema)" }
    /// The URL of a database of Redis, through the proxy.
    package func url(_ database: Int = 0, durability: String = "memory") -> String {
        "redis+unix://\(folder)/\(name)?db=\(database)&durability=\(durability)"
    }

    package func change(to mode: Mode) {
        state.change { $0.mode = mode }
        changed.lock()
        changed.broadcast()
        changed.unlock()
    }

    /// How many answers were thrown away.
    package var lost: Int { state.value.lost }

    /// Cuts all connections.
    package func cut() {
        let cut = state.change { state in
            defer { state.connections = [] }
            return state.connections
        }
        for pair in cut {
            shutdown(pair.client, Int32(SHUT_RDWR))
            shutdown(pair.server, Int32(SHUT_RDWR))
        }
    }

    package func close() {
        shutdown(listener, Int32(SHUT_RDWR))
        Foundation.close(listener)
        cut()
        change(to: .forwards)
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { bytes in
            for (index, byte) in path.utf8.prefix(bytes.count - 1).enumerated() { bytes[index] = byte }
        }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    private func accepts() {
        while true {
            let client = accept(listener, nil, nil)
            guard client >= 0 else { return }
            let server = streamSocket(AF_UNIX)
            guard Self.withAddress(target, { connect(server, $0, $1) }) == 0 else {
                Foundation.close(client)
                Foundation.close(server)
                continue
            }
            state.change { $0.connections.append((client, server)) }
            Thread.detachNewThread { [self] in copy(from: client, to: server, isAnswer: false) }
            if delay > .zero {
                Thread.detachNewThread { [self] in copyLater(from: server, to: client) }
            } else {
                Thread.detachNewThread { [self] in copy(from: server, to: client, isAnswer: true) }
            }
        }
    }

    /// Copies through a pipe on which everything is under way for a while.
    private func copyLater(from source: Int32, to sink: Int32) {
        let line = DelayLine()
        Thread.detachNewThread {
            while let bytes = line.take() {
                bytes.withUnsafeBytes { _ = send(sink, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            }
            shutdown(sink, Int32(SHUT_RDWR))
        }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = read(source, &bytes, bytes.count), count > 0 {
            line.add(Array(bytes[..<count]), at: .now + delay)
        }
        line.add([], at: .now)
        shutdown(source, Int32(SHUT_RDWR))
    }

    private func copy(from source: Int32, to sink: Int32, isAnswer: Bool) {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(source, &bytes, bytes.count)
            guard count > 0 else { break }
            changed.lock()
            while case .isSilent = state.value.mode { changed.wait() }
            changed.unlock()
            if isAnswer, state.change({ $0.losesAnswer(bytes[..<count]) }) { break }
            var sent = 0
            while sent < count {
                let written = bytes[sent..<count].withUnsafeBytes {
                    send(sink, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard written > 0 else { break }
                sent += written
            }
            if sent < count { break }
        }
        // The other direction ends, too, and closes nothing that is still used.
        shutdown(source, Int32(SHUT_RDWR))
        shutdown(sink, Int32(SHUT_RDWR))
    }
}

/// Bytes that come out later.
private final class DelayLine: Sendable {
    private let bytes = Guarded<[(bytes: [UInt8], at: ContinuousClock.Instant)]>([])
    private let changed = DispatchSemaphore(value: 0)

    /// Adds bytes; none are the end.
    func add(_ more: [UInt8], at instant: ContinuousClock.Instant) {
        bytes.change { $0.append((more, instant)) }
        changed.signal()
    }

    /// Returns the next bytes when it is their time; nil at the end.
    func take() -> [UInt8]? {
        changed.wait()
        let (next, instant) = bytes.change { $0.removeFirst() }
        let (seconds, attoseconds) = (instant - .now).components
        let time = Double(seconds) + Double(attoseconds) / 1e18
        if time > 0 { Thread.sleep(forTimeInterval: time) }
        return next.isEmpty ? nil : next
    }
}
