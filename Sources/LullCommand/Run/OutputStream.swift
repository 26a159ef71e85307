internal import CLullCommand
internal import Dispatch
internal import Lull

/// A standard stream that is written in the background, so that nobody who does not read it delays the program.
///
/// A terminal may be stopped, a pipe filled by another program, a disk slow: a write may block although `poll` has
/// announced room. (To make the descriptor non-blocking would change it for all programs that share it.)
struct OutputStream {
    let descriptor: Int32
    /// What is to be written next.
    var bytes: [UInt8] = []
    private let writer: BackgroundWriter
    /// Whether a write is under way.
    private(set) var isWriting = false
    /// Whether nothing is written any more: nobody reads it, or it cannot be written.
    private(set) var isGivenUp = false

    init(_ descriptor: Int32, _ waker: Waker) {
        self.descriptor = descriptor
        writer = BackgroundWriter(descriptor, waker)
    }

    var isEmpty: Bool { isGivenUp || bytes.isEmpty && !isWriting }

    mutating func report(_ message: String, isCut: Bool = true) { bytes.append(message: message, isCut: isCut) }

    /// Drops what was not written, and whatever follows.
    mutating func giveUp() {
        isGivenUp = true
        bytes = []
    }

    /// Begins to write what there is, unless a write is under way.
    mutating func beginWriting() {
        if isGivenUp { bytes = [] }
        guard !isWriting, !bytes.isEmpty else { return }
        isWriting = true
        writer.begin(bytes)
        // The writer has the memory, and releases it.
        bytes = []
    }

    /// Returns the result of a write that has ended since the last call.
    mutating func takeResult() throws(Failure) -> OutputBuffer.WriteResult? {
        guard isWriting, let result = writer.takeResult() else { return nil }
        isWriting = false
        return try result.get()
    }

    /// How many bytes have been written.
    var progress: Int { writer.progress }
}

/// Writes to a descriptor in a thread of its own.
private final class BackgroundWriter: Sendable {
    private struct State {
        var progress = 0
        var result: Result<OutputBuffer.WriteResult, Failure>?
    }

    private let descriptor: Int32
    private let waker: Waker
    /// A serial queue of its own, which gets a thread although all others are busy.
    private let queue = DispatchQueue(label: "lull.output")
    private let state = Guarded(State())
    /// How much one write takes, so that progress shows with a slow reader.
    private let portion: Int

    init(_ descriptor: Int32, _ waker: Waker) {
        self.descriptor = descriptor
        self.waker = waker
        portion = lull_is_file(descriptor) != 0 ? 1 << 20 : Int(PIPE_BUF)
    }

    func begin(_ bytes: [UInt8]) {
        queue.async { [self] in
            let result: Result<OutputBuffer.WriteResult, Failure>
            do throws(Failure) { result = .success(try write(bytes)) } catch { result = .failure(error) }
            state.change { $0.result = result }
            waker.wake()
        }
    }

    private func write(_ bytes: [UInt8]) throws(Failure) -> OutputBuffer.WriteResult {
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let count = try OutputBuffer.write(rest.prefix(portion), to: descriptor) else { return .closed }
            rest = rest.dropFirst(count)
            state.change { $0.progress += count }
        }
        return .written
    }

    func takeResult() -> Result<OutputBuffer.WriteResult, Failure>? {
        state.change { state in
            defer { state.result = nil }
            return state.result
        }
    }

    var progress: Int { state.value.progress }
}

/// Messages of a program that has no event loop and ends at a signal: written in the background, too.
enum BackgroundMessages {
    private static let queue = DispatchQueue(label: "lull.messages")
    private static let waiting = Guarded(0)
    /// How many messages wait for a reader; more are dropped.
    private static let mostWaiting = 1000

    static func report(_ message: String) {
        let isKept = waiting.change { count in
            guard count < mostWaiting else { return false }
            count += 1
            return true
        }
        guard isKept else { return }
        queue.async {
            OutputBuffer.report([message])
            waiting.change { $0 -= 1 }
        }
    }

    /// Waits until all are written, but only a second for somebody who does not read.
    static func drain() {
        let isDone = DispatchSemaphore(value: 0)
        queue.async { isDone.signal() }
        _ = isDone.wait(timeout: .now() + 1)
    }
}
