internal import LullCore
internal import LullDurable

// What the scripts store, as the values of `LullDurable`.

/// A row of a shard.
struct StoredRow: Sendable {
    var row: DurableRow
    /// The instant by which the row is found.
    var wake: CoreInstant
    /// Where the values of its slots begin.
    var values: [DurablePayload.Slot: Int64] = [:]

    /// Reads a row; nil if the bytes are none.
    init?(_ bytes: [UInt8]?) {
        guard let packed = Packed(bytes), let born = packed[0].number, let generation = packed[1].number,
            let taken = packed[2].number, let phase = packed[3].number, let quiet = packed[4].number,
            let span = packed[6].number, let spacing = packed[7].number, let wake = packed[8].number
        else { return nil }
        self.wake = CoreInstant(stored: wake)
        row = DurableRow(base: born)
        row.generation = generation
        row.taken = taken
        row.span = CoreDuration(stored: span)
        row.spacing = CoreDuration(stored: spacing)
        let (pending, ready, run) = (packed[10], packed[11], packed[12])
        row.gate.phase = Gate.Phase(rawValue: UInt8(clamping: phase)) ?? .idle
        row.gate.quiet = CoreInstant(stored: quiet)
        row.gate.latest = packed[5].number.map { CoreInstant(stored: $0) } ?? .farPast
        row.gate.count = Int(pending["count"].number ?? 0)
        row.gate.first = CoreInstant(stored: pending["first"].number ?? 0)
        if pending.isMap {
            row.pending = DurableRow.Pending(
                batch: Batch(.stored(.pending)), last: CoreInstant(stored: pending["last"].number ?? 0),
                submitter: DurableRow.Submitter(pending["by"].text.flatMap { Int64($0) }))
            values[.pending] = pending["index"].number
        }
        if ready.isMap {
            row.ready = DurableRow.Ready(ready, .ready)
            values[.ready] = ready["index"].number
        }
        if run.isMap {
            row.run = DurableRow.Run(run)
            values[.run] = run["index"].number
        }
    }
}

extension DurableRow.Ready {
    fileprivate init(_ packed: Packed, _ slot: DurablePayload.Slot) {
        let (from, to) = (packed["from"].number ?? 0, packed["to"].number ?? 0)
        self.init(
            batch: Batch(.stored(slot)), submits: from...max(from, to), count: Int(packed["count"].number ?? 0),
            first: CoreInstant(stored: packed["first"].number ?? 0),
            due: CoreInstant(stored: packed["due"].number ?? 0), edge: Edge(stored: packed["edge"].number),
            since: packed["since"].number.map { CoreInstant(stored: $0) })
    }
}

extension DurableRow.Run {
    /// Reads a run as rows and dead runs have it.
    init(_ packed: Packed) {
        let start = CoreInstant(stored: packed["start"].number ?? 0)
        self.init(
            value: DurableRow.Ready(packed, .run), id: packed["id"].number ?? 0, fence: packed["fence"].number ?? 0,
            owner: packed["owner"].text.flatMap { Int64($0) } ?? 0, attempt: Int(packed["attempt"].number ?? 0),
            state: packed["claimed"].isTrue ? .claimed(until: start) : .backoff(until: start),
            began: packed["began"].number.map { CoreInstant(stored: $0) }, error: packed["error"].bytes,
            mark: packed["mark"].number.map { CoreInstant(stored: $0) })
    }
}

extension Edge {
    /// Creates the edge with a number of the scripts.
    init(stored number: Int64?) {
        switch number {
        case 1: self = .leading
        case 3: self = .maxWait
        case 4: self = .maxCount
        case 5: self = .flush
        default: self = .trailing
        }
    }
}

/// How a range of submits has ended.
struct StoredEnd: Sendable {
    var how: DurableOutcome
    var submits: ClosedRange<Int64>
    var at: CoreInstant
    var run: Int64?
    var error: String?

    /// Reads the ends of a key.
    static func list(_ bytes: [UInt8]?) -> [StoredEnd] {
        (Packed(bytes)?.list ?? []).compactMap { packed in
            guard let how = DurableOutcome(packed[0].text ?? ""),
                let first = packed[1].number, let last = packed[2].number, first <= last
            else { return nil }
            return StoredEnd(
                how: how, submits: first...last, at: CoreInstant(stored: packed[3].number ?? 0), run: packed[5].number,
                error: packed[7].text)
        }
    }
}

extension DurablePause {
    /// Reads the pause of a namespace; nil if there is none.
    init?(stored bytes: [UInt8]?) {
        guard let packed = Packed(bytes), let at = packed[0].number else { return nil }
        let reason = packed[1].text ?? ""
        self.init(reason: reason.isEmpty ? nil : reason, time: .microseconds(at))
    }
}

extension DurableRules {
    /// Reads the rules of a namespace.
    init(stored bytes: [UInt8]?) throws(DurableError) {
        guard let packed = Packed(bytes), let list = packed.list, 10...16 ~= list.count else {
            throw .unusable("the namespace has rules that Lull did not write")
        }
        var edges: Edges = []
        if packed[3].isTrue { edges.insert(.leading) }
        if packed[4].isTrue { edges.insert(.trailing) }
        func duration(_ index: Int) -> CoreDuration? { packed[index].number.map { CoreDuration(stored: $0) } }
        let maxCount = packed[6].number.map { Int($0) }
        let combination: Combination =
            switch packed[7].text {
            case "first": .first
            case "collect": .collect
            default: .latest
            }
        do {
            let policy: Policy =
                if packed[0].isTrue {
                    try .throttle(interval: duration(1) ?? .zero, edges: edges, maxCount: maxCount)
                } else {
                    try .debounce(
                        wait: duration(1) ?? .zero, maxWait: duration(2), edges: edges,
                        delayRule: packed[5].isTrue ? .extend : .restart, maxCount: maxCount,
                        spacing: duration(9).flatMap { $0 > .zero ? $0 : nil })
                }
            try self.init(
                policy, combination: combination, isMerging: packed[15].isTrue,
                maxBatch: packed[8].number.map { Int($0) },
                limit: packed[11].number.map { starts in
                    RateLimit(starts: Int(starts), period: duration(12) ?? .zero, burst: Int(packed[13].number ?? 1))
                }, maxRunning: packed[14].number.map { Int($0) },
                whileRunning: DurableWhileRunning(name: packed[10].text) ?? .queue)
        } catch {
            throw .unusable("the namespace has a policy that this version does not understand: \(error)")
        }
    }

    /// The rules as the arguments of the script that opens a namespace.
    var arguments: [String] {
        func number(_ number: Int?) -> String { number.map { "\($0)" } ?? "" }
        func flag(_ isTrue: Bool) -> String { isTrue ? "1" : "0" }
        return [
            policy.kind == .throttle ? "throttle" : "debounce", "\(policy.wait.stored)",
            policy.maxWait.map { "\($0.stored)" } ?? "", flag(policy.edges.contains(.leading)),
            flag(policy.edges.contains(.trailing)), flag(policy.delayRule == .extend), number(policy.maxCount),
            combination.name, number(maxBatch), "\(policy.spacing.stored)", whileRunning.name ?? "",
            number(limit?.starts), limit.map { "\($0.period.stored)" } ?? "", number(limit?.burst), number(maxRunning),
            flag(isMerging),
        ]
    }
}
