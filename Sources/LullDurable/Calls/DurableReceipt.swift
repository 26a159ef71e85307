/// The receipt for a submit that has been recorded.
///
/// Pass it to ``DurableCoalescer/state(of:)`` or ``DurableCoalescer/wait(for:atMost:)``, in any process that uses the
/// store. It is `Codable`, so you can save it.
public struct DurableReceipt: Hashable, Sendable, Codable {
    /// The name of the namespace.
    public var namespace: String
    /// The bytes of the key.
    public var key: [UInt8]
    /// The number of the submit: greater than those of all earlier submits of the key.
    public var generation: Int64
    /// How long after the submit the value falls due if nothing more is submitted, by the clock of the store: zero if
    /// it is due at once, nil if it was absorbed.
    public var dueIn: Duration?
    /// When the value falls due, in nanoseconds of the store's own time; nil if it was absorbed.
    package var due: Int64?

    /// Creates a receipt.
    package init(namespace: String, key: [UInt8], generation: Int64, dueIn: Duration?, due: Int64?) {
        self.namespace = namespace
        self.key = key
        self.generation = generation
        self.dueIn = dueIn
        self.due = due
    }
}
