import CLullSockets
import Foundation

/// A program that looks: a connection to a socket, whose lines are read when a test asks for them.
final class Looker {
    struct NoLine: Error {}

    let descriptor: Int32
    private var received: [UInt8] = []

    /// Only a hang reaches this time.
    private static let patience: Int32 = 60_000

    init(_ path: String) throws {
        descriptor = lull_socket_connect(path)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: -descriptor) ?? .EIO) }
    }

    deinit { lull_socket_close(descriptor) }

    /// Returns the next line as an object; nil at the end.
    func next() throws -> [String: Any]? {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Data(received[..<end])
                received.removeFirst(end + 1)
                return try JSONSerialization.jsonObject(with: line) as? [String: Any]
            }
            var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard lull_socket_wait(&polled, 1, Self.patience) > 0 else { throw NoLine() }
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            let count = lull_socket_receive(descriptor, &bytes, bytes.count)
            if count == 0 { return nil }
            if count > 0 { received += bytes[..<count] }
        }
    }

    /// Returns the next snapshot; fails at the end.
    func snapshot() throws -> [String: Any] {
        guard let line = try next() else { throw NoLine() }
        return line
    }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = lull_socket_send(descriptor, bytes, bytes.count)
    }

    func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }
}

extension [String: Any] {
    /// The debouncers of a snapshot that a line of a file has made.
    func rows(madeAt site: String) -> [[String: Any]] {
        (self["debouncers"] as? [[String: Any]] ?? []).filter { $0["where"] as? String == site }
    }

    func number(_ name: String) -> Int? { self[name] as? Int }
    func seconds(_ name: String) -> Double? { self[name] as? Double }
    func text(_ name: String) -> String? { self[name] as? String }
}

/// Returns a path for a socket, in a folder of the process.
func socketPath(_ name: String = #function) throws -> String {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("lull-look-\(getpid())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder.appendingPathComponent("\(UUID().uuidString.prefix(8))").path
}
