internal import Foundation
internal import Lull
internal import LullCore
public import LullDurable

/// Stores the pending work of durable debouncers in one SQLite file, which any number of processes on one machine may
/// share.
///
/// ```swift
/// let store = try await SQLiteStore(path: "/var/lib/app/sync.db")
/// let sync = try await DurableDebouncer<String, Change>(for: .seconds(2), namespace: "sync", in: store)
/// ```
///
/// One store serves all namespaces of a process, and may be used from any task. Debouncers make its calls: an app
/// creates the store, passes it to debouncers, and calls ``close()`` at the end. <doc:WorkThatSurvives> says what is
/// guaranteed.
///
/// A submit returns when it is on the disk (`synchronous = FULL`). Simultaneous calls share one transaction, and each
/// gets its own answer. SQLite runs on a thread of the store's own.
///
/// Other files belong to the file: a write-ahead log (`-wal`, `-shm`) and two files (`-want`, `-write`) whose locks let
/// one process at a time write, in turn. Move, copy or delete all of them or none, and only
/// while nothing uses them. Other programs may read the file. They must not write to it while it is in use: they do not
/// use those locks, and SQLite up to 3.51.2 may damage a file when one program copies the log into it while another
/// commits.
///
/// When a commit fails, the store closes the file, opens it again, and answers by its contents. Only if that fails,
/// too, does it answer ``/LullDurable/DurableError/unknown(_:)``.
public final class SQLiteStore: DurableStore {
    private let queue: CallQueue
    private let clock: StoreClock

    /// Opens a store, and creates its file if it does not exist, with the permissions 0600: only its owner can read it.
    /// A file that exists keeps its permissions, which the files beside it get, too. So for other ones create an empty
    /// file before, such as with `install -m 660 /dev/null PATH`.
    ///
    /// - Parameters:
    ///   - path: The file; its directory must exist, on this machine. A URI and `:memory:` are refused.
    ///   - limits: The size of a value, and how long outcomes and tokens are stored.
    ///   - allowsNetwork: Whether a file on a network file system is accepted. Its locks cannot be relied on: make sure
    ///     that only one process uses the file at a time.
    /// - Throws: ``/LullDurable/DurableError/unusable(_:)`` if the file is not one of Lull's, newer than this version,
    ///   damaged, or may not be written; ``/LullDurable/DurableError/refused(_:)`` if the disk is full or fails, or
    ///   another program locks the file for too long. It has not been changed then.
    public convenience init(
        path: String, limits: DurableLimits = DurableLimits(), allowsNetwork: Bool = false
    ) async throws(DurableError) {
        var options = SQLiteFile.Options()
        options.limits = limits
        options.allowsNetwork = allowsNetwork
        try await self.init(path, options)
    }

    /// Opens a store with all options.
    package init(_ path: String, _ options: SQLiteFile.Options) async throws(DurableError) {
        clock = options.clock
        let opening = Guarded(Opening())
        queue = try CallQueue { loop in
            do throws(DurableError) {
                if options.isReadOnly {
                    let reader = try SQLiteReader(path, options)
                    opening.finish(nil)
                    loop.run(reader)
                } else {
                    let file = try CurrentFile(path, options)
                    opening.finish(nil)
                    loop.run(file)
                }
            } catch {
                opening.finish(error)
            }
        }
        if let failure = await opening.failure() { throw failure }
    }

    deinit { queue.beginClosing() }

    /// Closes the store: see ``/LullDurable/DurableStore/close()``.
    public func close() async {
        await queue.close()
    }
}

extension SQLiteStore: RowStore {
    package typealias Table = SQLiteTransaction

    /// Makes a step on the thread, in a transaction that others may share.
    package func step<Raw: Sendable, Answer: Sendable>(
        _ access: StepAccess, _ body: @escaping @Sendable (inout SQLiteTransaction) throws(DurableError) -> Raw,
        then finish: @escaping @Sendable (Raw, inout WakeSignal) -> Answer
    ) async throws(DurableError) -> Answer {
        let result = await withCheckedContinuation { continuation in
            let call = StoreCall(writes: access.kind != .reads, body) { [queue] result, written in
                let answer = queue.withWakeSignal { signal in
                    signal.signal(written)
                    return result.map { finish($0, &signal) }
                }
                return { continuation.resume(returning: answer) }
            }
            queue.enqueue(call)
        }
        return try result.get()
    }

    package func waitForSignal(
        _ subject: WakeSignal.Subject, in namespace: String, after mark: Int64, atMost time: Duration
    ) async throws(DurableError) {
        try await queue.wait(for: subject, in: namespace, after: mark, atMost: time, by: clock)
    }

    /// Every step begins with a look at the names of the files.
    package func check() async throws(DurableError) { _ = try await presentInstant(in: "") }
}

/// Whether the thread has opened the file, and the caller that waits for it.
private struct Opening {
    var result: DurableError??
    var caller: CheckedContinuation<DurableError?, Never>?
}

extension Guarded<Opening> {
    /// Takes note of the end: nil if the file is open.
    fileprivate func finish(_ failure: DurableError?) {
        change { opening in
            opening.result = .some(failure)
            return opening.caller
        }?.resume(returning: failure)
    }

    /// Waits for the end.
    fileprivate func failure() async -> DurableError? {
        await withCheckedContinuation { caller in
            let result = change { opening in
                opening.caller = caller
                return opening.result
            }
            if let result { caller.resume(returning: result) }
        }
    }
}
