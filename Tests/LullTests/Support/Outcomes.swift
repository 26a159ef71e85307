import TestSupport
import Lull

/// An outcome that tests can compare.
enum Ended<Result: Equatable & Sendable>: Equatable, Sendable {
    case executed(Result)
    case failed(Refusal?)
    case superseded
    case absorbed
    case cancelled
    case rejected(Rejection)

    init(_ outcome: Outcome<Result>) {
        self =
            switch outcome {
            case .executed(let result): .executed(result)
            case .failed(let error): .failed(error as? Refusal)
            case .superseded: .superseded
            case .absorbed: .absorbed
            case .cancelled: .cancelled
            case .rejected(let why): .rejected(why)
            }
    }
}

extension SoleCoalescer where Result: Equatable {
    /// Submits, and records what became of it.
    func submit(_ value: Value, into record: Record<Ended<Result>>) {
        submit(value) { record.add(Ended($0)) }
    }
}

extension KeyedCoalescer where Result: Equatable {
    /// Submits under a key, and records what became of it.
    func submit(_ value: Value, for key: Key, into record: Record<Ended<Result>>) {
        submit(value, for: key) { record.add(Ended($0)) }
    }
}
