internal import Lull
internal import LullDurable
internal import LullSQLite

/// Records together what is submitted while earlier submits are being recorded: one commit, and one task, for many
/// requests.
final class SubmitBatcher: Sendable {
    enum Answer {
        case receipt(DurableReceipt)
        case error(DurableError)
        /// The namespace merges values, and this one is not JSON.
        case notJSON(JSONScanner.Fault)
    }

    private struct Entry {
        let number: Int
        let submission: DurableSubmission
        let done: @Sendable (Answer) -> Void
        let added = ContinuousClock.now
    }

    private struct State {
        /// How many there have been.
        var count = 0
        var waiting: [Entry] = []
        var underWay = 0
        /// The namespaces whose values have to be JSON, as far as they are known. A namespace can be forgotten, and be
        /// made again with other rules.
        var merging: [String: (isMerging: Bool, until: ContinuousClock.Instant)] = [:]
    }

    /// While one batch is on its way to a server, another one can be. A file takes one after the other, and larger ones
    /// sooner.
    private let mostUnderWay: Int
    /// The most submits in a batch.
    private static let most = 256

    private let store: any WatchedStore
    private let state = Guarded(State())

    init(_ store: any WatchedStore) {
        self.store = store
        mostUnderWay = store is SQLiteStore ? 1 : 2
    }

    /// Records a submit. The answer comes from another task.
    ///
    /// - Parameter time: How long the answer may take; nil for as long as the store takes.
    func add(
        _ submission: DurableSubmission, within time: Duration? = nil, _ done: @escaping @Sendable (Answer) -> Void
    ) {
        guard let time else {
            _ = add(submission, done)
            return
        }
        let open = Guarded<(@Sendable (Answer) -> Void)?>(done)
        let number = add(submission) { open.exchange(nil)?($0) }
        Task.detached {
            try? await Task.sleep(for: time)
            guard let done = open.exchange(nil) else { return }
            let why = "the store has not answered for \(time.components.seconds) seconds"
            // One that is on its way may be recorded yet.
            done(.error(self.remove(number) ? .refused(why) : .unknown(why)))
        }
    }

    /// Returns the number of the submit.
    private func add(_ submission: DurableSubmission, _ done: @escaping @Sendable (Answer) -> Void) -> Int {
        let (number, begins) = state.change { state in
            state.count += 1
            state.waiting.append(Entry(number: state.count, submission: submission, done: done))
            let begins = state.underWay < mostUnderWay
            if begins { state.underWay += 1 }
            return (state.count, begins)
        }
        if begins { Task.detached { await self.recordAll() } }
        return number
    }

    /// Removes a submit that still waits. Returns whether it did.
    private func remove(_ number: Int) -> Bool {
        state.change { state in
            guard let index = state.waiting.firstIndex(where: { $0.number == number }) else { return false }
            state.waiting.remove(at: index)
            return true
        }
    }

    private func recordAll() async {
        while let batch = take() {
            let begun = ContinuousClock.now
            if let failure = await record(batch) { refuseWaiting(since: begun, failure) }
        }
    }

    /// Refuses what has waited for as long as a batch that the store did not take: each next batch would wait as long
    /// again.
    private func refuseWaiting(since begun: ContinuousClock.Instant, _ failure: DurableError) {
        let refused = state.change { state in
            let refused = state.waiting.filter { $0.added <= begun }
            state.waiting.removeAll { $0.added <= begun }
            return refused
        }
        let error = DurableError.refused("the store did not take the submits before this one: \(failure)")
        for entry in refused { entry.done(.error(error)) }
    }

    private func take() -> [Entry]? {
        state.change { state in
            if state.waiting.isEmpty {
                state.underWay -= 1
                return nil
            }
            let batch = Array(state.waiting.prefix(Self.most))
            state.waiting.removeFirst(batch.count)
            return batch
        }
    }

    /// Returns why the store took none of them; nil if it took any, or if they were refused for what they are.
    private func record(_ batch: [Entry]) async -> DurableError? {
        var accepted: [Entry] = []
        // A store that is away is waited for once, and not for each submit.
        var failures: [String: DurableError] = [:]
        for entry in batch {
            let namespace = entry.submission.namespace
            if let failure = failures[namespace] {
                entry.done(.error(failure))
                continue
            }
            do throws(DurableError) {
                if try await isMerging(namespace), let fault = Self.fault(in: entry.submission.value) {
                    entry.done(.notJSON(fault))
                } else {
                    accepted.append(entry)
                }
            } catch {
                failures[namespace] = error.ofQuestion
                entry.done(.error(error.ofQuestion))
            }
        }
        if accepted.isEmpty { return failures.values.first(where: \.isOfStore) }
        do throws(DurableError) {
            let results = try await store.submit(accepted.map(\.submission))
            for (entry, result) in zip(accepted, results) {
                switch result {
                case .success(let receipt): entry.done(.receipt(receipt))
                case .failure(let error): entry.done(.error(error))
                }
            }
            let errors = results.compactMap { result in if case .failure(let error) = result { error } else { nil } }
            return errors.count == results.count ? errors.first(where: \.isOfStore) : nil
        } catch {
            for entry in accepted { entry.done(.error(error)) }
            return error
        }
    }

    private static func fault(in value: [UInt8]) -> JSONScanner.Fault? {
        do throws(JSONScanner.Fault) { _ = try value.withUnsafeBufferPointer(JSONScanner.whole) } catch { return error }
        return nil
    }

    private func isMerging(_ namespace: String) async throws(DurableError) -> Bool {
        if let known = state.change({ $0.merging[namespace] }), known.until > .now { return known.isMerging }
        let isMerging = CombineRule(try await store.open(namespace, nil)) == .mergeJSON
        state.change { $0.merging[namespace] = (isMerging, .now + .seconds(10)) }
        return isMerging
    }
}

extension DurableError {
    /// Whether other submits would fail in the same way.
    fileprivate var isOfStore: Bool {
        switch self {
        case .refused, .unknown, .unusable, .closed: true
        default: false
        }
    }
}
