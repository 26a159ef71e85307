import Foundation
import Lull
import LullCore
import LullDurable
import TestSupport
import Testing

/// What users' code does with values may take all threads of the cooperative pool.
@Suite("A busy cooperative pool", .ownThreads, .serialized)
struct BusyPoolTests {
    /// What takes long, in every key but one.
    enum Busy: String, CaseIterable {
        case encoding
        case decoding
        case folding
        case handling
    }

    /// Keeps a thread busy until a worker has renewed a lease several times, or for so long that it surely does not.
    private final class Load: Sendable {
        let isOver = Guarded(false)
        let begun = Guarded(0)

        func carry() {
            begun.change { $0 += 1 }
            let end = ContinuousClock.now + .seconds(20)
            // It must not sleep: the pool replaces threads that do.
            while !isOver.value, .now < end {}
        }
    }

    /// A value that is large, and whose coding may take long.
    private struct Value: Codable, Sendable {
        static let encoding = Guarded<Load?>(nil)
        static let decoding = Guarded<Load?>(nil)
        var isBusy: Bool
        var text: String

        init(isBusy: Bool) {
            self.isBusy = isBusy
            text = String(repeating: "x", count: isBusy ? 100_000 : 1)
        }

        init(from decoder: any Decoder) throws {
            var values = try decoder.unkeyedContainer()
            isBusy = try values.decode(Bool.self)
            text = try values.decode(String.self)
            if isBusy { Self.decoding.value?.carry() }
        }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.unkeyedContainer()
            try values.encode(isBusy)
            try values.encode(text)
            if isBusy { Self.encoding.value?.carry() }
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: Busy.allCases)
    func `heartbeats and other keys are on time`(_ busy: Busy) async throws {
        let load = Load()
        /// Whether the handler of another key has to begin meanwhile: users' tasks may take the pool from each other.
        let needsOther = busy == .decoding || busy == .folding
        let count = ProcessInfo.processInfo.activeProcessorCount + 1
        _ = Value.encoding.exchange(busy == .encoding ? load : nil)
        _ = Value.decoding.exchange(busy == .decoding ? load : nil)
        let (beats, handled) = (Guarded(0), Guarded(false))
        let store = FlakyStore(MemoryStore())
        store.fails { call in
            guard case .report(let report) = call, case .heartbeat = report.kind else { return nil }
            let renewals = beats.change { beats in
                beats += 1
                return beats
            }
            if renewals >= 5, load.begun.value > 0, handled.value || !needsOther { _ = load.isOver.exchange(true) }
            return nil
        }
        let combining = Combination<Value>.merge { pending, value in
            if busy == .folding, value.isBusy { load.carry() }
            pending = value
        }
        let sync = try await DurableDebouncer<String, Value>(
            for: .milliseconds(200), combining: combining, namespace: "n", in: store)
        let worker = Task {
            try await sync.run(maxConcurrent: 2 * count, lease: .milliseconds(150)) { execution in
                switch execution.key {
                case "held": try await waitUntil { load.isOver.value }
                case "other": handled.change { $0 = true }
                default: if busy == .handling { load.carry() }
                }
            }
        }
        try await sync.submit(Value(isBusy: false), for: "held")
        try await waitUntil { beats.value > 0 }
        for key in 0..<count {
            // The second of them is folded into the first.
            let submits = Task {
                for _ in 0..<2 { try await sync.submit(Value(isBusy: true), for: "busy \(key)") }
            }
            if busy != .encoding { try await submits.value }
        }
        if needsOther {
            try await waitUntil { load.begun.value > 0 }
            try await sync.submit(Value(isBusy: false), for: "other")
        }
        try await waitUntil { load.isOver.value }
        #expect(sync.counters.lostLeases == 0)
        worker.cancel()
        try await worker.value
    }
}
