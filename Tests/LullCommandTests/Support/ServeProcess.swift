import CLullCommand
import CLullSockets
import Foundation
import LullHTTP
import TestSupport

@testable import LullCommand

/// `lull serve` or `lull top --page` as a process, and real requests to it.
final class ServeProcess {
    static let isInstalled = HTTPLibrary.load() == nil

    let process: ToolProcess
    /// It is removed with its last reference.
    private let store: TestStore?
    /// The port; nil at a socket.
    let port: UInt16?
    private let path: String?

    /// Starts the command on a store, at a port, which the system chooses, or at a socket, and waits until it serves.
    init(
        _ store: TestStore, _ options: [String] = [], socket: String? = nil, port wanted: UInt16 = 0,
        environment: [String: String] = [:], descriptors: Int? = nil
    ) throws {
        let place = socket.map { "unix:\($0)" } ?? "127.0.0.1:\(wanted)"
        if let descriptors {
            let limited = ["-c", "ulimit -n \(descriptors); exec \"$0\" \"$@\"", ToolProcess.path]
            process = try ToolProcess(
                limited + store.arguments("serve --listen", [place] + options), program: "/bin/sh")
        } else {
            process = try store.start("serve --listen", [place] + options, environment: environment)
        }
        path = socket
        self.store = store
        var line = try process.errorLine()
        while !line.contains("serving ") {
            do { line = try process.errorLine() } catch { throw NotServing(said: line) }
        }
        port = Self.port(line)
    }

    /// Starts `lull top --page` on the socket of a program, at a port, which the system chooses, or at a socket, and
    /// waits until it serves.
    init(topOf program: String, socket: String? = nil) throws {
        process = try ToolProcess(
            ["top", "--page", program] + (socket.map { ["--listen", "unix:\($0)"] } ?? []))
        (path, store) = (socket, nil)
        port = Self.port(try process.errorLine())
    }

    struct NotServing: Error {
        /// The last line before its end, or for a minute.
        let said: String
    }

    private static func port(_ line: String) -> UInt16? {
        line.split(separator: ":").last.flatMap { UInt16($0.prefix { $0.isNumber }) }
    }

    /// An answer as it came.
    struct Answer {
        var status = 0
        var fields: [String: String] = [:]
        var body: [UInt8] = []
        var text: String { String(decoding: body, as: UTF8.self) }
        var object: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:]
        }
        /// The sentence of a refusal.
        var error: String { object["error"] as? String ?? "" }
    }

    /// Makes a request on a connection of its own.
    func request(
        _ method: String, _ path: String, _ fields: [String: String] = [:], body: [UInt8]? = nil
    ) throws -> Answer {
        var head = "\(method) \(path) HTTP/1.1\r\nConnection: close\r\n"
        var all = fields
        if all["Host"] == nil { all["Host"] = port.map { "127.0.0.1:\($0)" } ?? "localhost" }
        if let body { all["Content-Length"] = "\(body.count)" }
        for (name, value) in all { head += "\(name): \(value)\r\n" }
        let connection = try connect()
        connection.send(Array((head + "\r\n").utf8) + (body ?? []))
        return Self.parse(connection.readToEnd())
    }

    func post(_ path: String, _ body: String, _ fields: [String: String] = [:]) throws -> Answer {
        try request("POST", path, fields, body: Array(body.utf8))
    }

    func get(_ path: String, _ fields: [String: String] = [:]) throws -> Answer { try request("GET", path, fields) }

    /// Makes a change as the page does.
    func act(_ path: String, _ body: String = "", _ fields: [String: String] = [:]) throws -> Answer {
        try post("/api/\(path)", body, ["Lull-Page": "1"].merging(fields) { $1 })
    }

    func connect() throws -> RawConnection { try RawConnection(port: port, path: path) }

    /// Takes an answer apart. A body in chunks is put together.
    static func parse(_ bytes: [UInt8]) -> Answer {
        var answer = Answer()
        let data = Data(bytes)
        guard let end = data.range(of: Data("\r\n\r\n".utf8)) else { return answer }
        let lines = String(decoding: data[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        answer.status = Int(lines[0].split(separator: " ").dropFirst().first ?? "") ?? 0
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            answer.fields[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(
                in: .whitespaces)
        }
        answer.body = Array(data[end.upperBound...])
        if answer.fields["transfer-encoding"] == "chunked" { answer.body = unchunked(answer.body) }
        return answer
    }

    private static func unchunked(_ bytes: [UInt8]) -> [UInt8] {
        var (rest, body) = (bytes[...], [UInt8]())
        while let end = rest.firstIndex(of: 10),
            let size = Int(String(decoding: rest[..<end].dropLast(), as: UTF8.self), radix: 16), size > 0
        {
            body += rest[(end + 1)...].prefix(size)
            rest = rest[(end + 1)...].dropFirst(size + 2)
        }
        return body
    }
}

/// A connection that sends and receives bytes as a test likes.
final class RawConnection {
    let descriptor: Int32

    struct NotConnected: Error {
        let code: Int32
    }

    init(port: UInt16?, path: String?) throws {
        descriptor = streamSocket(path == nil ? AF_INET : AF_UNIX)
        var code: Int32 = -1
        if let path {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
            code = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
        } else {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = (port ?? 0).bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            code = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
        if code != 0 { throw NotConnected(code: errno) }
    }

    deinit { close(descriptor) }

    /// Sends bytes; returns whether they were taken.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    func send(_ text: String) { send(Array(text.utf8)) }

    /// Sends no more, and goes on receiving.
    func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    func readToEnd() -> [UInt8] {
        var bytes: [UInt8] = []
        while let more = read(), !more.isEmpty { bytes += more }
        return bytes
    }

    /// Reads until a text has come; nil if the connection ends before.
    func read(until text: String) -> String? {
        var bytes: [UInt8] = []
        // Where it may begin: what came before has been searched.
        var start = 0
        while !String(decoding: bytes[start...], as: UTF8.self).contains(text) {
            start = max(0, bytes.count - text.utf8.count)
            guard let more = read(), !more.isEmpty else { return nil }
            bytes += more
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads what there is, or waits for it; nil at an error or after a minute, and nothing at the end.
    private func read() -> [UInt8]? {
        var interest = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&interest, 1, 60_000) == 1 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count < 0 ? nil : Array(buffer.prefix(count))
    }
}
