internal import CLullCommand

/// Wakes an event loop from other threads.
struct Waker: Sendable {
    /// Poll this for reading.
    let descriptor: Int32
    private let writing: Int32

    init() throws(Failure) { (descriptor, writing) = try Pipe.make(isBlocking: false) }

    func wake() {
        // If the pipe is full, the loop is going to be woken.
        var byte: UInt8 = 0
        _ = write(writing, &byte, 1)
    }

    func acknowledge() {
        var bytes = [UInt8](repeating: 0, count: 256)
        while read(descriptor, &bytes, bytes.count) == bytes.count {}
    }
}
