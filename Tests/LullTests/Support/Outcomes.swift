import TestSupport
import Lull

/// An outcome that tests can compare.
enum Ended<Output: Equatable & Sendable>: Equatable, Sendable {
    case executed(Output)
    case failed(Refusal?)
    case superseded
    case absorbed
    case cancelled
    case rejected(Rejection)

    init(_ outcome: Outcome<Output>) {
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

extension UnkeyedCoalescer where Output: Equatable {
    /// Submits, and records what became of it.
    func submit(_ value: Value, into record: Record<Ended<Output>>) {
        submit(value) { record.add(Ended($0)) }
    }
}

extension KeyedCoalescer where Output: Equatable {
    /// Submits under a key, and records what became of it.
    func submit(_ value: Value, for key: Key, into record: Record<Ended<Output>>) {
        submit(value, for: key) { record.add(Ended($0)) }
    }
}
