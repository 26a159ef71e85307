internal import LullCore

// The numbers by which the page and the module name things; `page/engine.js` has the same.

/// The first number of a record in the answer buffer.
enum RecordKind {
    /// run, key, count, edge, at, first, number of values, values
    static let start: Int64 = 1
    /// run
    static let cancel: Int64 = 2
    /// key, fate, number of values, values
    static let resolve: Int64 = 3
    /// key, the value that was displaced or -1, its fate. What was due before the submit comes before it.
    static let submitted: Int64 = 4
    /// run, verdict
    static let verdict: Int64 = 5
}

extension Cause {
    var number: Int64 {
        switch self {
        case .leading: 0
        case .trailing: 1
        case .maxWait: 2
        case .maxCount: 3
        case .flush: 4
        @unknown default: preconditionFailure("an edge without a number")
        }
    }
}

extension NotExecutedError {
    var number: Int64 {
        switch self {
        case .superseded: 0
        case .absorbed: 1
        case .cancelled: 2
        case .rejected(.shutDown): 3
        case .rejected(.overCapacity), .rejected(.tooManyPending): 4
        // A reason that the page cannot name.
        case .rejected: 5
        }
    }
}

extension Verdict {
    var number: Int64 {
        switch self {
        case .executed: 0
        case .failed: 1
        case .superseded, .replaced: 2
        case .cancelled: 3
        case .interrupted: 4
        // The page compares no values.
        case .absorbed: 1
        }
    }
}

extension CombinationRule {
    init(number: Int32) {
        self = number == 0 ? .latest : number == 1 ? .first : .collect
    }
}

extension OverlapPolicy {
    init(number: Int32) {
        switch number {
        case 0: self = .queue
        case 1: self = .cancelRunning
        case 2: self = .restart
        case 3: self = .concurrent
        default: self = .skip
        }
    }
}
