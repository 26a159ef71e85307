internal import CLullSockets
internal import CLullSystem
internal import Dispatch
internal import Lull

/// The socket at a path, and the thread that sends snapshots to those that have connected to it.
///
/// The thread waits for nobody: it sends what fits, and a reader that has not read its last snapshot gets no newer one
/// until it has. So a reader costs the memory of one snapshot, however slow it is. The thread sleeps while nobody is
/// connected.
final class InspectionServer: Sendable {
    /// The most readers at a time.
    static let readerLimit = 8
    /// The least time between two snapshots, in nanoseconds.
    static let interval: Int64 = 250_000_000

    private let path: String
    private let mark: lull_socket_mark
    private let listener: Int32
    /// The thread reads from the first, and is told to end through the second.
    private let stopping: (reading: Int32, writing: Int32)
    private let hasEnded = DispatchSemaphore(value: 0)

    init(at path: String) throws(Inspector.Unavailable) {
        // As far as C reads it.
        guard !path.utf8.contains(0) else { throw .init(path: path, reason: "the path contains a NUL byte") }
        self.path = path
        var why = [CChar](repeating: 0, count: 256)
        listener = lull_socket_listen(path, &why, why.count)
        guard listener >= 0 else {
            let text = why.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            throw .init(path: path, reason: String(decoding: text, as: UTF8.self))
        }
        mark = lull_socket_mark_of(path)
        var ends: [Int32] = [-1, -1]
        let hasPipe = lull_socket_pipe(&ends) == 0
        stopping = (ends[0], ends[1])
        if hasPipe {
            let code = lull_thread_start(
                { argument in
                    // Proof: the argument is what is passed below.
                    Unmanaged<InspectionServer>.fromOpaque(argument.unsafelyUnwrapped).takeRetainedValue().run()
                    return nil
                }, Unmanaged.passRetained(self).toOpaque())
            if code == 0 { return }
            // The reference was for the thread.
            Unmanaged.passUnretained(self).release()
        }
        closeAll()
        throw .init(path: path, reason: "there are too few descriptors or threads left")
    }

    /// Ends the thread, and returns when it has ended.
    func stop() {
        lull_socket_wake(stopping.writing)
        hasEnded.wait()
        closeAll()
    }

    private func closeAll() {
        lull_socket_remove(path, mark)
        for descriptor in [listener, stopping.reading, stopping.writing] where descriptor >= 0 {
            lull_socket_close(descriptor)
        }
    }

    // MARK: - The thread

    /// A program that has connected.
    private struct Reader {
        let descriptor: Int32
        /// What is left to be sent of its snapshot.
        var rest: ArraySlice<UInt8> = []
        /// Whether it sends nothing any more. It may still read.
        var isSilent = false

        /// Sends what fits; false if nobody reads any more.
        mutating func send() -> Bool {
            while !rest.isEmpty {
                let sent = rest.withUnsafeBytes { lull_socket_send(descriptor, $0.baseAddress, $0.count) }
                if sent < 0 { return false }
                if sent == 0 { return true }
                rest = rest.dropFirst(sent)
            }
            // An empty slice would keep the whole snapshot.
            rest = []
            return true
        }

        /// Handles what has come: a reader has nothing to say, and one that sends something has lost its way.
        ///
        /// - Returns: Whether it remains.
        mutating func receive() -> Bool {
            var byte: UInt8 = 0
            let count = lull_socket_receive(descriptor, &byte, 1)
            if count == 0 { isSilent = true }
            return count <= 0
        }

        /// What it waits for.
        var interest: pollfd {
            let events = (isSilent ? 0 : POLLIN) | (rest.isEmpty ? 0 : POLLOUT)
            return pollfd(fd: descriptor, events: Int16(events), revents: 0)
        }
    }

    private func run() {
        var readers: [Reader] = []
        var next: Int64 = 0
        // While connections cannot be taken, for lack of descriptors, nobody waits for them.
        var isFull = false
        while true {
            let now = lull_nanoseconds_since_boot()
            if now >= next, readers.contains(where: \.rest.isEmpty) {
                next = now + Self.interval
                sendSnapshot(to: &readers, at: now)
            }
            var polled = [
                pollfd(fd: stopping.reading, events: Int16(POLLIN), revents: 0),
                pollfd(fd: listener, events: Int16(isFull ? 0 : POLLIN), revents: 0),
            ]
            polled += readers.map(\.interest)
            let isAwaited = readers.contains(where: \.rest.isEmpty)
            let milliseconds = isAwaited ? Self.milliseconds(until: next) : isFull ? 250 : -1
            let count = lull_socket_wait(&polled, polled.count, milliseconds)
            isFull = false
            guard count > 0 else { continue }
            if polled[0].revents != 0 { break }
            for (index, events) in polled.dropFirst(2).map({ Int32($0.revents) }).enumerated().reversed() {
                var remains = events & Int32(POLLHUP | POLLERR | POLLNVAL) == 0
                if remains, events & Int32(POLLIN) != 0 { remains = readers[index].receive() }
                if remains, events & Int32(POLLOUT) != 0 { remains = readers[index].send() }
                if !remains { lull_socket_close(readers.remove(at: index).descriptor) }
            }
            if polled[1].revents != 0 { isFull = !accept(&readers) }
        }
        for reader in readers { lull_socket_close(reader.descriptor) }
        hasEnded.signal()
    }

    private static func milliseconds(until instant: Int64) -> Int32 {
        // Rounded up: a wait that ends too early would be repeated at once.
        Int32(clamping: max(0, (instant - lull_nanoseconds_since_boot()) / 1_000_000 + 1))
    }

    private func sendSnapshot(to readers: inout [Reader], at now: Int64) {
        let line = Snapshot.line(about: RuntimeRegistry.all, at: now)
        for index in readers.indices.reversed() where readers[index].rest.isEmpty {
            readers[index].rest = line[...]
            if !readers[index].send() { lull_socket_close(readers.remove(at: index).descriptor) }
        }
    }

    /// Takes the connections that wait; false if there are no descriptors for them.
    private func accept(_ readers: inout [Reader]) -> Bool {
        // As many as the queue holds: others must not be kept waiting by one that connects again and again.
        for _ in 0..<16 {
            let descriptor = lull_socket_accept(listener)
            guard descriptor >= 0 else { return descriptor == -1 }
            let peer = lull_socket_peer(descriptor)
            var reader = Reader(descriptor: descriptor)
            if peer != lull_user(), peer != 0 {
                lull_socket_close(descriptor)
            } else if readers.count == Self.readerLimit {
                reader.rest = Snapshot.refusal("\(Self.readerLimit) others look into the program already")[...]
                _ = reader.send()
                lull_socket_close(descriptor)
            } else {
                readers.append(reader)
            }
        }
        return true
    }
}
