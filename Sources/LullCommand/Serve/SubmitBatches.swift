internal import Lull
internal import LullDurable

/// Records together what is submitted while earlier submits are being recorded: one commit, and one task, for many requests.
final class SubmitBatches: Sendable {
    enum Answer {
        case receipt(DurableReceipt)
        case error(DurableError)
        /// The namespace merges values, and this one is not JSON.
        case notJSON(JSONScanner.Fault)
    }

    private struct Entry {
        let submission: DurableSubmission
        let done: @Sendable (Answer) -> Void
    }

    private struct State {
        var waiting: [Entry] = []
        var underWay = 0
        /// The namespaces whose values have to be JSON, as far as they are known. A namespace can be forgotten, and be made again with
        /// other rules.
        var merging: [String: (isMerging: Bool, until: ContinuousClock.Instant)] = [:]
    }

    /// While one batch is on its way to a server, another one can be.
    private static let mostUnderWay = 2
    /// The most submits in a batch.
    private static let most = 256

    private let store: any WatchedStore
    private let state = Guarded(State())

    init(_ store: any WatchedStore) { self.store = store }

    /// Records a submit. The answer comes from another task.
    func add(_ submission: DurableSubmission, _ done: @escaping @Sendable (Answer) -> Void) {
        let begins = state.change { state in
            state.waiting.append(Entry(submission: submission, done: done))
            guard state.underWay < Self.mostUnderWay else { return false }
            state.underWay += 1
            return true
        }
        if begins { Task.detached { await self.recordAll() } }
    }

    private func recordAll() async {
        while let batch = take() { await record(batch) }
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

    private func record(_ batch: [Entry]) async {
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
        if accepted.isEmpty { return }
        do throws(DurableError) {
            let results = try await store.submit(accepted.map(\.submission))
            for (entry, result) in zip(accepted, results) {
                switch result {
                case .success(let receipt): entry.done(.receipt(receipt))
                case .failure(let error): entry.done(.error(error))
                }
            }
        } catch {
            for entry in accepted { entry.done(.error(error)) }
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
