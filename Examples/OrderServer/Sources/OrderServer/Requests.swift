import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// A request, and how to answer it. In a server of yours, this file is a framework.
struct Request: Sendable {
    let method: String
    let path: String
    let body: String
    fileprivate let connection: Int32

    func answer(_ status: Int, _ text: String) {
        let message = "HTTP/1.1 \(status) -\r\nContent-Length: \(text.utf8.count)\r\nConnection: close\r\n\r\n\(text)"
        _ = message.withCString { send(connection, $0, strlen($0), flags) }
        close(connection)
    }
}

#if canImport(Glibc)
    private let stream = Int32(SOCK_STREAM.rawValue)
    /// A client that has gone away must not end the process.
    private let flags = Int32(MSG_NOSIGNAL)
#else
    private let stream = SOCK_STREAM
    private let flags: Int32 = 0
#endif

/// Listens on this machine alone, and returns the requests as they come. A thread reads them, one after another.
func requests(port: UInt16) throws -> AsyncStream<Request> {
    let listener = socket(AF_INET, stream, 0)
    var yes: Int32 = 1
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let bound = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
    guard bound == 0, listen(listener, 64) == 0 else {
        throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
    return AsyncStream { continuation in
        Thread.detachNewThread {
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { continue }
                if let request = read(from: connection) { continuation.yield(request) } else { close(connection) }
            }
        }
    }
}

/// Returns a request, or nil if it is malformed, too long, or does not come within five seconds.
private func read(from connection: Int32) -> Request? {
    var limit = timeval(tv_sec: 5, tv_usec: 0)
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var text = ""
    var buffer = [UInt8](repeating: 0, count: 4096)
    while text.utf8.count < 1 << 16 {
        if let end = text.range(of: "\r\n\r\n") {
            let head = text[..<end.lowerBound].components(separatedBy: "\r\n")
            let length =
                head.first { $0.lowercased().hasPrefix("content-length:") }
                .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) } ?? 0
            let first = head[0].split(separator: " ")
            guard first.count == 3 else { return nil }
            if text[end.upperBound...].utf8.count >= length {
                let body = String(text[end.upperBound...])
                return Request(method: String(first[0]), path: String(first[1]), body: body, connection: connection)
            }
        }
        let count = recv(connection, &buffer, buffer.count, 0)
        guard count > 0 else { return nil }
        text += String(decoding: buffer[..<count], as: UTF8.self)
    }
    return nil
}
