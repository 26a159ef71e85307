internal import Foundation
internal import Lull
internal import LullCore

// The calls of producers.

extension DurableCoalescer {
    /// Submits a value under a key, and returns when the store has recorded it: from then on the value, or one that
    /// replaces it, is executed, whichever process dies.
    ///
    /// A submit costs a transaction of the store, which concurrent submits share. It needs no worker in this process:
    /// another process may call ``run(maxConcurrent:lease:retry:grace:onFailure:fileID:line:handler:)``.
    ///
    /// - Parameters:
    ///   - value: The value. The store holds it as JSON.
    ///   - key: The key, of at most ``DurableLimits/longestKey`` bytes.
    ///   - token: A name for the submit, in the namespace, that makes it repeatable: with the same token it counts once,
    ///     and the store gives its first answer again. When the store's answer is lost, a submit with a token is
    ///     repeated a few times before this call gives up. A token costs a second row in the store for as long as the
    ///     store retains tokens.
    /// - Returns: A receipt for ``state(of:)`` and ``wait(for:atMost:)``. It is `Codable`, so you can save it.
    /// - Throws: ``DurableError/unknown(_:)`` if the value may or may not have been recorded; after every other error it
    ///   has certainly not been. What to do then: <doc:WorkThatSurvives>.
    @discardableResult
    public func submit(
        _ value: Value, for key: Key, token: String? = nil
    ) async throws(DurableError) -> DurableReceipt {
        try await submit(value, for: key, wait: nil, token: token)
    }

    func submit(
        _ value: Value, for key: Key, wait: CoreDuration?, token: String?
    ) async throws(DurableError) -> DurableReceipt {
        let bytes: [UInt8]
        do {
            bytes = Array(try JSONEncoder().encode(value))
        } catch {
            throw .unencodable("\(error)")
        }
        let submission = DurableSubmission(
            namespace: namespace, key: key.durableBytes, value: bytes, wait: wait, token: token)
        for pause in token == nil ? [] : Self.pausesBeforeRepeating {
            do throws(DurableError) {
                return try await store.submit(submission)
            } catch {
                guard case .unknown = error else { throw error }
                do { try await clock.sleep(clock.now().advanced(by: pause)) } catch { break }
            }
        }
        return try await store.submit(submission)
    }

    /// The pauses before a submit is repeated.
    private static var pausesBeforeRepeating: [CoreDuration] { [100, 400, 1600].map { .milliseconds($0) } }

    /// Makes what is pending under a key, or waits for another attempt, executable now (<doc:Semantics>, section 5).
    ///
    /// Returns when the store has recorded that, not when the value has been executed: there may be no worker. To wait
    /// for the execution, use ``wait(for:atMost:)``.
    ///
    /// - Returns: Whether there was anything to execute.
    @discardableResult
    public func flush(_ key: Key) async throws(DurableError) -> Bool {
        try await store.flush(key.durableBytes, in: namespace) > 0
    }

    /// Makes what is pending under any key of the namespace, or waits for another attempt, executable now.
    ///
    /// The keys follow the order of their first submits. Returns when the store has recorded that.
    ///
    /// - Returns: The number of keys that had anything to execute.
    @discardableResult
    public func flush() async throws(DurableError) -> Int {
        try await store.flush(nil, in: namespace)
    }

    /// Drops what no worker has claimed under a key: what is pending, ready, or waiting for another attempt. A run that a
    /// worker has goes on.
    ///
    /// - Returns: The number of submits behind what was dropped.
    @discardableResult
    public func cancel(_ key: Key) async throws(DurableError) -> Int {
        try await store.cancel(key.durableBytes, in: namespace)
    }

    /// Drops what no worker has claimed, under every key of the namespace.
    ///
    /// - Returns: The number of submits behind what was dropped.
    @discardableResult
    public func cancel() async throws(DurableError) -> Int {
        try await store.cancel(nil, in: namespace)
    }

    // MARK: - The state of a submit

    /// Returns the present state of a submit, with one call of the store.
    ///
    /// - Parameter receipt: The receipt that ``submit(_:for:token:)`` returned, in this process or another one.
    /// - Returns: The state; ``DurableState/forgotten`` if the submit ended longer ago than the store's
    ///   ``DurableLimits/retention``.
    public func state(of receipt: DurableReceipt) async throws(DurableError) -> DurableState {
        try await store.state(of: receipt)
    }

    /// Waits until a submit has ended, which may need a worker in another process.
    ///
    /// ```swift
    /// let receipt = try await sync.submit(change, for: document)
    /// try await sync.flush(document)
    /// if try await sync.wait(for: receipt, atMost: .seconds(5)) == .completed { screen.showSaved() }
    /// ```
    ///
    /// It polls the store at intervals that grow with the wait, up to a quarter of a second.
    ///
    /// - Parameters:
    ///   - receipt: The receipt that ``submit(_:for:token:)`` returned.
    ///   - time: The longest time to wait.
    /// - Returns: How the submit has ended; its present state if it has not ended (``DurableState/isFinal``) when the time
    ///   is over or the task is cancelled.
    @discardableResult
    public func wait(for receipt: DurableReceipt, atMost time: Duration) async throws(DurableError) -> DurableState {
        let start = clock.now()
        let end = start.advanced(by: CoreDuration(time))
        while true {
            let state = try await store.state(of: receipt)
            let now = clock.now()
            if state.isFinal || now >= end || Task.isCancelled { return state }
            let pause = CoreDuration.nanoseconds(start.duration(to: now).nanoseconds / 4)
            let next = now.advanced(by: min(max(pause, .milliseconds(5)), .milliseconds(250)))
            try? await clock.sleep(min(next, end))
        }
    }
}

extension DurableState {
    /// Whether the state can no longer change by itself. A dead run can still be retried.
    public var isFinal: Bool {
        switch self {
        case .pending, .ready, .running, .waitingForRetry: false
        case .completed, .failed, .cancelled, .absorbed, .dead, .forgotten: true
        }
    }
}
