public import Observation

/// A value for views that has a settled copy: what is cheap follows every change, what is costly follows when the
/// changes have stopped.
///
/// ```swift
/// // SwiftUI
/// @State private var text = DebouncedValue("", for: .milliseconds(300))
/// TextField("Text", text: $text.value)      // follows every key
/// Preview(markdown: text.settled)           // follows when typing pauses
/// ```
///
/// It belongs to the main actor and is `Observable`. Setting the value costs a few microseconds, mostly for being
/// observable. When it is released, what has not settled is dropped.
@MainActor
@Observable
public final class DebouncedValue<Value: Sendable> {
    /// The value as it was set last.
    public var value: Value {
        didSet {
            debouncer.submit(value)
            let counters = debouncer.counters
            isSettling = counters.pending + counters.running > 0
        }
    }

    /// The value as it was when it last came to rest.
    public private(set) var settled: Value

    /// Whether the value has been set and has not settled yet: for a progress view.
    public private(set) var isSettling = false

    @ObservationIgnored private let isDuplicate: ((Value, Value) -> Bool)?
    @ObservationIgnored private let debouncer: Debouncer<Value, Void>
    @ObservationIgnored private let rest: Rest
    @ObservationIgnored private let listeners = Listeners<Value>()

    /// What the debouncer's handler can reach before the object is complete, and without keeping it alive.
    @MainActor
    private final class Rest {
        weak var owner: DebouncedValue?
    }

    /// Makes a value that has settled.
    ///
    /// The program stops with a message if a setting breaks a rule (<doc:Semantics>, section 10).
    ///
    /// - Parameters:
    ///   - value: What it is at first; it counts as settled.
    ///   - wait: The time without a change after which it has settled.
    ///   - maxWait: The longest time that it may go on changing without being settled; at least `wait`.
    ///   - edges: Where in a burst of changes it settles.
    ///   - removingDuplicates: Whether two values are the same: one that comes to rest where the last one did does not settle
    ///     again, so that nobody is told. For values that are `Equatable`, give `==`.
    ///   - clock: Measures the waits; a test gives the `ManualClock` of `LullTesting` (<doc:Testing>).
    ///   - tolerance: How much later than due a wake-up may be, so that wake-ups of several debouncers can be one; never
    ///     early. Zero or more.
    public init(
        _ value: Value, for wait: Duration, maxWait: Duration? = nil, edges: Edges = .trailing,
        removingDuplicates: ((Value, Value) -> Bool)? = nil, clock: any Clock<Duration> = ContinuousClock(),
        tolerance: Duration = .zero
    ) {
        let rest = Rest()
        isDuplicate = removingDuplicates
        self.rest = rest
        self.value = value
        settled = value
        debouncer = Debouncer(
            for: wait, maxWait: maxWait, edges: edges, options: .init(atEnd: .drop, tolerance: tolerance),
            clock: clock
        ) {
            @MainActor value in
            rest.owner?.settle(value)
        }
        rest.owner = self
    }

    /// Lets the value settle now, before this returns: when a field is left, say.
    public func flush() {
        guard isSettling else { return }
        debouncer.cancel(includingRunning: true)
        settle(value)
    }

    /// The values at which it settles from now on, as a stream that ends when the value is released.
    ///
    /// Each call returns a stream of its own, for one consumer; while the consumer is busy, the stream keeps the newest
    /// value.
    public func settledValues() -> AsyncStream<Value> {
        listeners.add()
    }

    private func settle(_ value: Value) {
        // Something set after the value that settles is on its way in turn.
        defer { isSettling = debouncer.counters.pending > 0 }
        if let isDuplicate, isDuplicate(settled, value) { return }
        settled = value
        listeners.tell(value)
    }
}

/// Streams that are told the same, and end when nobody holds this any more.
private final class Listeners<Value: Sendable>: @unchecked Sendable {
    // Proof of @unchecked Sendable: the fields are only touched while `lock` is held, and in `deinit`.
    private let lock = Lock()
    private var streams: [Int: AsyncStream<Value>.Continuation] = [:]
    private var count = 0

    deinit {
        for stream in streams.values { stream.finish() }
    }

    func add() -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(1))
        let id = lock.withLock {
            count += 1
            streams[count] = continuation
            return count
        }
        continuation.onTermination = { [weak self] _ in self?.remove(id) }
        return stream
    }

    private func remove(_ id: Int) {
        lock.withLock { streams[id] = nil }
    }

    func tell(_ value: Value) {
        for stream in lock.withLock({ Array(streams.values) }) { stream.yield(value) }
    }
}
