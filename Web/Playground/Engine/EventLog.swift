internal import LullCore

/// What has happened in a ``StoreSimulation``: for each, its kind, the instant, the number of further numbers, and
/// those; `page/store.js` has their names.
struct EventLog {
    enum Kind: Int64 {
        case submitted, due, claimed, started, cancelling, ended, effect, reported, expired, putBack, dead, backoff,
            interrupted
        case killed, began, slept, woke, cutOff, reachable, paused, resumed, limited, stopping, gone, flushed,
            cancelled, touched
        case retried, discarded, gaveUp
    }

    private(set) var numbers: [Int64] = []

    mutating func clear() { numbers = [] }

    mutating func add(_ kind: Kind, at now: CoreInstant, _ fields: Int64..., values: [Int64] = []) {
        numbers += [kind.rawValue, now.nanoseconds, Int64(fields.count + values.count)]
        numbers += fields
        numbers += values
    }

    mutating func add(_ kind: Kind, at now: CoreInstant, _ worker: Int) { add(kind, at: now, Int64(worker)) }

    /// Keeps a place in front of what follows from a call.
    mutating func reserve(_ kind: Kind, at now: CoreInstant, _ count: Int) -> Int {
        numbers += [kind.rawValue, now.nanoseconds, Int64(count)]
        let place = numbers.count
        numbers += [Int64](repeating: 0, count: count)
        return place
    }

    mutating func fill(_ place: Int, _ fields: Int64...) {
        for (index, field) in fields.enumerated() { numbers[place + index] = field }
    }
}

extension DurableReport.Kind {
    var number: Int64 {
        switch self {
        case .heartbeat: 0
        case .completed: 1
        case .failed: 2
        case .released: 3
        case .interrupted: 4
        case .snoozed: 5
        case .gaveUp: 6
        case .overdue: 7
        }
    }
}

extension DurableReport.Answer {
    var number: Int64 {
        switch self {
        case .accepted: 0
        case .interrupted: 1
        case .alreadyDone: 2
        case .leaseLost: 3
        }
    }
}

extension WorkerStateMachine.Event {
    /// The event if it is no answer of the store; the failure of the call if it is one.
    func lost(because error: DurableError) -> Self {
        switch self {
        case .claimed: .claimed(.failure(error))
        case .reported(let report, _): .reported(report, .failure(error))
        case .waitEnded: .waitEnded(.failure(error))
        case .watchEnded: .watchEnded(.failure(error))
        default: self
        }
    }
}

// Keys and values stay in the page; here they are the numbers that it has given them.

func bytes(of key: Int32) -> [UInt8] { bytes(of: Int64(key)) }

func bytes(of number: Int64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) } }

func number(of bytes: [UInt8]) -> Int64 { bytes.reduce(0) { $0 << 8 | Int64($1) } }
