internal import Foundation
public import LullCore

/// The argument of a worker's handler: the key, the values, and the numbers that let it do the work exactly once.
///
/// A run may be handed out more than once; ``runID`` and ``values`` are the same each time. What to do about that:
/// <doc:WorkThatSurvives>.
public struct DurableExecution<Key: DurableKey, Value: Codable & Sendable>: Sendable {
    /// The key.
    public let key: Key
    /// The values: one, or with `collect` all of them in the order in which they were submitted. Never empty. With
    /// `merge` it is the one into which they were folded.
    public let values: [Value]
    /// The id of the run: the same in every attempt, and in no other execution of the store. Send it along as an
    /// idempotency key, so that the receiver recognises a value that it has received before.
    public let runID: DurableRun.ID
    /// The fence, which grows with every claim of the key. Send it along, so that the receiver can refuse a stale
    /// worker, whose number is lower than one that it has seen for that key.
    public let fence: Int64
    /// The numbers of the submits that the execution covers: see ``DurableReceipt/generation``.
    public let submits: ClosedRange<Int64>
    /// The number of submits behind the execution: at least as many as ``values``.
    public let count: Int
    /// Why the values fell due (<doc:Semantics>, section 3).
    public let cause: Cause
    /// The number of this attempt, from 1.
    public let attempt: Int
    /// The context of the submit whose value this is, such as a `traceparent`; with `collect` and `merge` that of the
    /// last value. Nil if that submit had none, whatever earlier ones had. The same in every attempt (<doc:Semantics>,
    /// section 8).
    public let context: String?

    /// The value; with `collect` the last one.
    public var value: Value { values[values.count - 1] }

    init(_ run: DurableRun, _ fold: DurableFold<Value>?) throws {
        guard let key = Key(durableBytes: run.key) else {
            throw DurableError.undecodable("no key of the type \(Key.self) has the bytes of \(run.summary)")
        }
        guard !run.values.isEmpty else { throw DurableError.undecodable("\(run.summary) has no value") }
        let values = try decodeValues(run.values, as: Value.self, of: run.summary)
        if let fold {
            var merged = values[0]
            for value in values.dropFirst() { fold(&merged, value) }
            self.values = [merged]
        } else {
            self.values = values
        }
        self.key = key
        runID = run.id
        fence = run.fence
        submits = run.submits
        count = run.count
        cause = run.cause
        attempt = run.attempt
        context = run.context
    }
}

/// Folds a value into the one that is pending.
typealias DurableFold<Value> = @Sendable (_ pending: inout Value, _ value: Value) -> Void

extension DurableDeadRun {
    /// Returns the values as the handler would have got them; with `merge`, those that would have been folded.
    ///
    /// - Throws: ``DurableError/undecodable(_:)`` if one of them is no value of the type.
    public func values<Value: Decodable>(as type: Value.Type) throws(DurableError) -> [Value] {
        try decodeValues(values, as: type, of: "dead run \(id)")
    }
}

/// Decodes the values of a run, as a store has them.
///
/// - Parameter subject: What the error names.
func decodeValues<Value: Decodable>(
    _ values: [[UInt8]], as type: Value.Type, of subject: String
) throws(DurableError) -> [Value] {
    let decoder = JSONDecoder()
    do {
        return try values.map { try decoder.decode(Value.self, from: Data($0)) }
    } catch {
        throw DurableError.undecodable("the value of \(subject) is no \(Value.self): \(error)")
    }
}
