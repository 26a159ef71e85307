internal import CLullHTTP
internal import Lull

/// An HTTP server on a socket: libmicrohttpd with one thread, which is not kept waiting for answers.
///
/// Its memory is bounded, whatever clients do: in connections, in the head of a request, in one body and in all of
/// them. A request has to arrive, and its answer to be read, at a least speed; a connection that is idle for too long
/// is closed.
package final class HTTPServer: Sendable {
    package struct Limits: Sendable {
        /// The number of connections at once. More wait until one is closed.
        package var connections = 12_000
        /// The bytes of the head of a request, and of what is sent at once.
        package var head = 32 << 10
        /// The bytes of a body.
        package var body: Int
        /// The bytes of all bodies together.
        package var bodies = 256 << 20
        /// The bytes of all answers together that are being read.
        package var answers = 256 << 20
        /// How long a connection may be idle, and how long a request may take beside the time for its bytes.
        package var patience = Duration.seconds(30)
        /// The least speed with which a body has to arrive and an answer to be read, in bytes a second.
        package var speed = 16 << 10

        package init(body: Int) { self.body = body }
    }

    /// What the server asks of its user.
    package struct Handlers: Sendable {
        /// Returns the answer to a request that need not be read any further; nil to go on. Runs on the server's
        /// thread: it must not block.
        package var refuse: @Sendable (HTTPRequest) -> HTTPAnswer?
        /// Answers a request, now or later, by a call of the function that it is given. Runs on the server's thread,
        /// too.
        package var answer: @Sendable (HTTPRequest, @escaping @Sendable (HTTPAnswer) -> Void) -> Void
        /// Returns the answer in which something is said that the server itself has found out.
        package var failure: @Sendable (_ status: Int, _ sentence: String) -> HTTPAnswer

        package init(
            refuse: @escaping @Sendable (HTTPRequest) -> HTTPAnswer?,
            answer: @escaping @Sendable (HTTPRequest, @escaping @Sendable (HTTPAnswer) -> Void) -> Void,
            failure: @escaping @Sendable (Int, String) -> HTTPAnswer
        ) {
            (self.refuse, self.answer, self.failure) = (refuse, answer, failure)
        }
    }

    private let limits: Limits
    private let handlers: Handlers
    private let daemon = Guarded<Handle?>(nil)
    private let deadlines = Guarded<[Int32: ContinuousClock.Instant]>([:])
    private let work = Guarded(Work())
    private let sweeper = Guarded<Task<Void, Never>?>(nil)
    /// What libmicrohttpd calls. Proof of `nonisolated(unsafe)`: it is written before the server starts, and freed with
    /// it.
    private nonisolated(unsafe) let callbacks = UnsafeMutablePointer<lull_http_callbacks>.allocate(capacity: 1)

    private struct Work {
        /// The number of requests that are complete and not answered to the end.
        var underWay = 0
        /// The bytes of all bodies, and of all answers.
        var bodies = 0
        var answers = 0
        var isEnding = false
        var streams: [ObjectIdentifier: EventStream] = [:]
    }

    /// Proof of `@unchecked Sendable`: libmicrohttpd's functions for a server may be called by any thread.
    private struct Handle: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    /// Starts a server.
    ///
    /// - Parameter socket: A socket that listens. It stays the caller's, who closes it after ``stop(within:)``.
    /// - Returns: Nil if libmicrohttpd cannot start.
    package init?(listeningAt socket: Int32, _ limits: Limits, _ handlers: Handlers) {
        (self.limits, self.handlers) = (limits, handlers)
        callbacks.initialize(
            to: lull_http_callbacks(
                handle: { context, connection, path, method, _, body, size, request in
                    HTTPServer.of(context).handle(connection, path, method, body, size, request)
                },
                ended: { context, connection, request, _ in HTTPServer.of(context).end(connection, request) },
                connection: { context, descriptor, isClosed in
                    HTTPServer.of(context).changed(descriptor, isClosed: isClosed != 0)
                },
                // The server stops before it is released.
                context: Unmanaged.passUnretained(self).toOpaque()))
        // Requests are given more time than idle connections by their own deadlines.
        let seconds = UInt32(limits.patience.components.seconds)
        guard
            let started = lull_http_start(
                socket, UInt32(limits.connections), UInt32(limits.head), seconds, callbacks)
        else { return nil }
        let handle = Handle(pointer: started)
        daemon.change { $0 = handle }
        sweeper.change { sweeper in
            sweeper = Task.detached { [weak self] in
                while !Task.isCancelled {
                    try? await Task.sleep(for: .seconds(1))
                    self?.sweep()
                }
            }
        }
    }

    deinit { callbacks.deallocate() }

    private static func of(_ context: UnsafeMutableRawPointer?) -> HTTPServer {
        // Proof: it is the context that the initialiser has given.
        Unmanaged<HTTPServer>.fromOpaque(context!).takeUnretainedValue()
    }

    /// The number of connections.
    package var connections: Int { daemon.value.map { Int(lull_http_connections($0.pointer)) } ?? 0 }

    /// Ends the server: accepts no more connections and no more requests, answers those under way, and closes all
    /// connections.
    ///
    /// - Parameter time: How long requests under way may take.
    package func stop(within time: Duration) async {
        guard let handle = daemon.exchange(nil) else { return }
        lull_http_quiesce(handle.pointer)
        let streams = work.change { work in
            work.isEnding = true
            return Array(work.streams.values)
        }
        for stream in streams { stream.end() }
        let end = ContinuousClock.now + time
        while work.value.underWay > 0, ContinuousClock.now < end { try? await Task.sleep(for: .milliseconds(5)) }
        sweeper.exchange(nil)?.cancel()
        // A connection that is suspended cannot be closed: the program ends with it.
        if work.value.underWay == 0 {
            lull_http_stop(handle.pointer)
        } else {
            _ = Unmanaged.passRetained(self)
        }
    }

    // MARK: - Deadlines

    private func changed(_ descriptor: Int32, isClosed: Bool) {
        if isClosed { deadlines.change { _ = $0.removeValue(forKey: descriptor) } } else { allow(0, on: descriptor) }
    }

    /// Gives a connection the time for some bytes from an instant on.
    private func allow(_ bytes: Int, on descriptor: Int32, since start: ContinuousClock.Instant = .now) {
        let end = start + limits.patience + .seconds(bytes / limits.speed)
        deadlines.change { $0[descriptor] = end }
    }

    /// Ends the connections whose time is over. Their descriptors are still open: the server notes before it closes
    /// one.
    private func sweep() {
        deadlines.change { deadlines in
            let now = ContinuousClock.now
            for (descriptor, end) in deadlines where end <= now {
                lull_http_shut(descriptor)
                deadlines[descriptor] = nil
            }
        }
    }

    // MARK: - On the server's thread

    private func handle(
        _ pointer: OpaquePointer?, _ path: UnsafePointer<CChar>?, _ method: UnsafePointer<CChar>?,
        _ body: UnsafePointer<CChar>?, _ size: UnsafeMutablePointer<Int>?,
        _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> Int32 {
        guard let pointer, let path, let method, let size, let request else { return LULL_MHD_NO }
        let connection = HTTPConnection(pointer: pointer)
        guard let known = request.pointee else {
            let exchange = Exchange(connection.request(String(cString: method), String(cString: path)))
            request.pointee = Unmanaged.passRetained(exchange).toOpaque()
            allow(0, on: exchange.request.descriptor)
            if String(validatingCString: path) == nil {
                let answer = handlers.failure(400, "the path is not UTF-8: write other bytes as in %FF")
                return send(answer, exchange, connection)
            }
            if let answer = early(exchange.request) { return send(answer, exchange, connection) }
            return LULL_MHD_YES
        }
        // Proof: what was stored there above.
        let exchange = Unmanaged<Exchange>.fromOpaque(known).takeUnretainedValue()
        if size.pointee > 0 {
            if let body { take(UnsafeRawBufferPointer(start: body, count: size.pointee), exchange) }
            size.pointee = 0
            return LULL_MHD_YES
        }
        if let answer = exchange.state.change({ $0.answer }) { return send(answer, exchange, connection) }
        return begin(exchange, connection)
    }

    /// Returns the answer to a request whose body need not be read.
    private func early(_ request: HTTPRequest) -> HTTPAnswer? {
        if work.change({ $0.isEnding }) { return ended }
        if let reason = request.ambiguity { return handlers.failure(400, reason) }
        if request.arguments.contains(where: { $0.name == HTTPConnection.malformed }) {
            return handlers.failure(400, "the query has a % that begins no byte")
        }
        if let refused = handlers.refuse(request) { return refused }
        guard let length = request.field("Content-Length").flatMap({ Int($0) }), length > limits.body else {
            return nil
        }
        return tooLarge
    }

    private var ended: HTTPAnswer { handlers.failure(503, "the server ends") }

    private var tooLarge: HTTPAnswer {
        handlers.failure(413, "the body has more than \(limits.body) bytes, the most that is taken")
    }

    /// Adds to the body of a request.
    private func take(_ bytes: UnsafeRawBufferPointer, _ exchange: Exchange) {
        let (refusal, received, released) = exchange.state.change { state -> (HTTPAnswer?, Int, Int) in
            state.received += bytes.count
            if state.answer != nil { return (nil, state.received, 0) }
            if state.body.count + bytes.count > limits.body {
                defer { state.body = [] }
                return (tooLarge, state.received, state.body.count)
            }
            let hasRoom = work.change { work in
                if work.bodies + bytes.count > limits.bodies { return false }
                work.bodies += bytes.count
                return true
            }
            if hasRoom {
                state.body += bytes
                return (nil, state.received, 0)
            }
            defer { state.body = [] }
            let answer = handlers.failure(503, "the server has too many requests under way; nothing was recorded")
            return (answer, state.received, state.body.count)
        }
        if let refusal {
            work.change { $0.bodies -= released }
            exchange.state.change { $0.answer = refusal }
        }
        // What goes on after a refusal is read and dropped, and has no more time than the first bytes.
        if received <= limits.body, received >= limits.speed {
            allow(received, on: exchange.request.descriptor, since: exchange.begun)
        }
    }

    /// Answers a request that is complete. Its connection is suspended until there is an answer.
    private func begin(_ exchange: Exchange, _ connection: HTTPConnection) -> Int32 {
        // Once the server has begun to end, it may stop at any time, and then no connection may be suspended.
        let isTaken = work.change { work in
            if !work.isEnding { work.underWay += 1 }
            return !work.isEnding
        }
        if !isTaken { return send(ended, exchange, connection) }
        deadlines.change { $0[exchange.request.descriptor] = nil }
        var request = exchange.request
        request.body = exchange.state.change { state in
            state.isUnderWay = true
            defer { state.body = [] }
            return state.body
        }
        connection.suspend()
        let size = request.body.count
        handlers.answer(request) { [work] answer in
            work.change { $0.bodies -= size }
            exchange.state.change { $0.answer = answer }
            connection.resume()
        }
        return LULL_MHD_YES
    }

    private func send(_ answer: HTTPAnswer, _ exchange: Exchange, _ connection: HTTPConnection) -> Int32 {
        let response: OpaquePointer?
        // libmicrohttpd has a copy from here on.
        exchange.state.change { $0.answer = nil }
        switch answer.body {
        case .bytes(let bytes):
            guard reserve(bytes.count, for: exchange) else {
                return send(
                    handlers.failure(503, "too many large answers are being read"), exchange, connection)
            }
            allow(bytes.count, on: exchange.request.descriptor)
            response = bytes.withUnsafeBytes { lull_http_answer($0.baseAddress, $0.count) }
        case .events(let stream):
            stream.begin(on: connection)
            work.change { $0.streams[ObjectIdentifier(stream)] = stream }
            exchange.state.change { $0.stream = stream }
            response = lull_http_stream(
                { context, _, bytes, size in
                    // Proof: it is retained for as long as the answer lives, and there are bytes to write.
                    Unmanaged<EventStream>.fromOpaque(context!).takeUnretainedValue().read(into: bytes!, size)
                },
                Unmanaged.passRetained(stream).toOpaque(),
                { Unmanaged<EventStream>.fromOpaque($0!).release() })
            if work.change({ $0.isEnding }) { stream.end() }
        }
        guard let response else { return LULL_MHD_NO }
        defer { lull_MHD_destroy_response(response) }
        for (name, value) in answer.fields { _ = lull_MHD_add_response_header(response, name, value) }
        return lull_MHD_queue_response(connection.pointer, UInt32(answer.status), response)
    }

    /// Reserves room for an answer; one that is small always has it. Returns whether there is any.
    private func reserve(_ size: Int, for exchange: Exchange) -> Bool {
        if size <= 64 << 10 { return true }
        let hasRoom = work.change { work in
            if work.answers + size > limits.answers { return false }
            work.answers += size
            return true
        }
        if hasRoom { exchange.state.change { $0.reserved = size } }
        return hasRoom
    }

    /// A request has been answered, or its client is gone.
    private func end(_ pointer: OpaquePointer?, _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?) {
        guard let request, let known = request.pointee else { return }
        request.pointee = nil
        // Proof: what was stored there by the first call.
        let exchange = Unmanaged<Exchange>.fromOpaque(known).takeRetainedValue()
        let (stream, isUnderWay, left, reserved) = exchange.state.change { state in
            defer { state.body = [] }
            return (state.stream ?? state.answer?.stream, state.isUnderWay, state.body.count, state.reserved)
        }
        // A client may be gone before its stream has begun.
        stream?.close()
        work.change { work in
            if isUnderWay { work.underWay -= 1 }
            work.bodies -= left
            work.answers -= reserved
            if let stream { work.streams[ObjectIdentifier(stream)] = nil }
        }
        // The connection may be used for another request. If it ends instead, that is told later, before its descriptor
        // is closed.
        allow(0, on: exchange.request.descriptor)
    }
}

/// A request while it is received and answered.
private final class Exchange: Sendable {
    struct State {
        var body: [UInt8] = []
        /// The bytes that have come, also those that were dropped.
        var received = 0
        var answer: HTTPAnswer?
        /// The bytes of the answer, if it counts among all of them.
        var reserved = 0
        var stream: EventStream?
        var isUnderWay = false
    }

    /// Without its body.
    let request: HTTPRequest
    /// When its head had come.
    let begun = ContinuousClock.now
    let state = Guarded(State())

    init(_ request: HTTPRequest) { self.request = request }
}

/// A connection of libmicrohttpd.
///
/// Proof of `@unchecked Sendable`: while it is suspended, any thread may resume it; everything else is done by the
/// server's thread.
struct HTTPConnection: @unchecked Sendable {
    let pointer: OpaquePointer

    /// The name of an argument that stands for one that cannot be decoded. No client can send it.
    static let malformed = "\0"

    func suspend() { lull_MHD_suspend_connection(pointer) }
    func resume() { lull_MHD_resume_connection(pointer) }

    /// Copies the head of the request.
    func request(_ method: String, _ path: String) -> HTTPRequest {
        var fields: [(name: String, value: String)] = []
        forEachPair(LULL_MHD_HEADERS) { name, value in
            fields.append((HTTPRequest.text(name), HTTPRequest.text(value)))
        }
        var arguments: [(name: String, value: [UInt8])] = []
        forEachPair(LULL_MHD_ARGUMENTS) { name, value in
            guard let name = PercentEncoding.decoded(name, isQuery: true),
                let value = PercentEncoding.decoded(value, isQuery: true)
            else { return arguments.append((Self.malformed, [])) }
            arguments.append((String(decoding: name, as: UTF8.self), value))
        }
        return HTTPRequest(
            method: method, path: path, fields: fields, arguments: arguments, descriptor: lull_http_descriptor(pointer))
    }

    private final class PairReader {
        let take: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Void

        init(_ take: @escaping (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Void) { self.take = take }
    }

    private func forEachPair(_ kind: Int32, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Void) {
        withoutActuallyEscaping(body) { body in
            let reader = PairReader(body)
            _ = lull_MHD_get_connection_values_n(
                pointer, kind,
                { context, _, name, nameSize, value, valueSize in
                    // Proof: it is the object above, which lives longer than the call.
                    Unmanaged<PairReader>.fromOpaque(context!).takeUnretainedValue().take(
                        UnsafeRawBufferPointer(start: name, count: nameSize),
                        UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : valueSize))
                    return LULL_MHD_YES
                }, Unmanaged.passUnretained(reader).toOpaque())
            withExtendedLifetime(reader) {}
        }
    }
}
