public import LullCore

/// A run as a store hands it to a worker, with key and values as bytes. The handler receives a ``DurableExecution``.
public struct DurableRun: Hashable, Sendable, Identifiable {
    /// The number of a run, which no other run of the store has, and which is the same in every attempt.
    ///
    /// Its text is the number in decimal digits, as `lull` and logs show it: send it along as an idempotency key.
    public struct ID: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
        /// The number, greater than zero.
        public let rawValue: Int64

        /// Creates the id with a number, such as one that was saved or typed.
        public init(rawValue: Int64) {
            self.rawValue = rawValue
        }

        /// The number in decimal digits.
        public var description: String { "\(rawValue)" }
    }

    /// The bytes of the key.
    public var key: [UInt8]
    /// The bytes of the values: one, or with `collect` all of them in order.
    public var values: [[UInt8]]
    /// The id, the same in every attempt: ``DurableExecution/runID``.
    public var id: ID { ID(rawValue: number) }
    package var number: Int64
    /// The fence, which grows with every claim of the key: ``DurableExecution/fence``.
    public var fence: Int64
    /// The numbers of the submits that the run covers: see ``DurableReceipt/generation``.
    public var submits: ClosedRange<Int64>
    /// The number of submits behind the run.
    public var count: Int
    /// Why the run fell due.
    public var cause: Cause
    /// When the run fell due, in the store's time.
    package var due: CoreInstant
    /// The instant of the oldest submit behind the run, in the store's time.
    package var first: CoreInstant
    /// The number of this attempt, from 1.
    public var attempt: Int
    /// The context of the last of the values: see ``DurableExecution/context``; nil if it has none.
    public var context: String?

    /// Creates a run as a server has handed it out.
    ///
    /// - Parameter stored: The values as the store holds them, with their contexts.
    package init(
        key: [UInt8], stored: [[UInt8]], id: Int64, fence: Int64, submits: ClosedRange<Int64>, count: Int, cause: Cause,
        due: CoreInstant, first: CoreInstant, attempt: Int
    ) {
        self.key = key
        (values, context) = StoredValue.parts(of: stored)
        number = id
        self.fence = fence
        self.submits = submits
        self.count = count
        self.cause = cause
        self.due = due
        self.first = first
        self.attempt = attempt
    }

    /// Creates a worker's view of a row's run.
    ///
    /// - Parameter stored: The values as the store holds them, with their contexts.
    package init(key: [UInt8], stored: [[UInt8]], run: DurableRow.Run) {
        let value = run.value
        self.init(
            key: key, stored: stored, id: run.id, fence: run.fence, submits: value.submits, count: value.count,
            cause: value.cause, due: value.due, first: value.first, attempt: run.attempt)
    }
}
