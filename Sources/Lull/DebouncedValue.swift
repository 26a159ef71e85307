public import Observation

/// A value for views with a settled copy: cheap views follow every change, costly ones follow when the changes have
/// stopped.
///
/// ```swift
/// // SwiftUI
/// @State private var text = DebouncedValue("", for: .milliseconds(300))
/// TextField("Text", text: $text.value)      // follows every key
/// Preview(markdown: text.settled)           // follows when typing pauses
/// ```
///
/// It is isolated to the main actor and `Observable`. Setting the value costs a few microseconds, mostly for
/// observation. Observers are called when a change is complete, and may set the value and flush it, too. One that
/// observes again at once is called for each property that a change concerns. When the object is released, a value that
/// has not settled is dropped.
@MainActor
@Observable
public final class DebouncedValue<Value: Sendable> {
    /// The value that was set last.
    public var value: Value {
        get {
            access(keyPath: \.value)
            return state.last.value
        }
        set {
            set(newValue)
        }
    }

    /// The value at which it last settled.
    public var settled: Value {
        access(keyPath: \.settled)
        return state.settled.value
    }

    /// Whether the value has been set and has not settled: for a progress view, which may observe it.
    ///
    /// No handler runs here, so it is all there is to be busy with. For the spinner of a debouncer see <doc:Observing>.
    public var isSettling: Bool {
        access(keyPath: \.isSettling)
        return state.isSettling
    }

    /// A value, and how many were set until then: only what was set later may take its place.
    private struct Setting: Sendable {
        var value: Value
        var number = 0
    }

    private struct State {
        /// What was set last.
        var last: Setting
        /// What has settled. A value that is the same as the one before has settled with its number alone.
        var settled: Setting

        var isSettling: Bool { settled.number < last.number }
    }

    @ObservationIgnored private var state: State
    @ObservationIgnored private let isDuplicate: ((Value, Value) -> Bool)?
    @ObservationIgnored private let debouncer: Debouncer<Setting, Void>
    @ObservationIgnored private let link: Link
    @ObservationIgnored private let listeners = Listeners<Value>()

    /// Gives the debouncer's handler a weak reference to the object, which does not exist yet when the handler is made.
    @MainActor
    private final class Link {
        weak var owner: DebouncedValue?
    }

    /// Creates a value that has settled.
    ///
    /// If a setting breaks a rule (<doc:Semantics>, section 10), the program stops with a message.
    ///
    /// - Parameters:
    ///   - value: The initial value, which counts as settled.
    ///   - wait: The time without a change after which the value settles.
    ///   - maxWait: The longest time for which it may change without settling; at least `wait`.
    ///   - edges: Whether it settles only at the end of a burst of changes, or at its beginning as well. The leading
    ///     edge alone stops the program: the last value would never settle.
    ///   - spacing: The least time between two instants at which it settles, flushes included; nil for none.
    ///   - removingDuplicates: Whether two values are the same: if the value settles where it last settled, it
    ///     does not settle again, and observers are not notified. For `Equatable` values, give `==`.
    ///   - clock: Measures the waits. For tests, `LullTesting` has `ManualClock` (<doc:Testing>).
    ///   - tolerance: How much later than due it may settle, so that one wake-up of the processor serves several; never
    ///     earlier. Zero or more.
    ///   - fileID: The file that a message about a wrong setting names; leave it out.
    ///   - line: The line that this message names; leave it out.
    public init(
        _ value: Value, for wait: Duration, maxWait: Duration? = nil, edges: Edges = .trailing,
        spacing: Duration? = nil, removingDuplicates: ((Value, Value) -> Bool)? = nil,
        clock: any Clock<Duration> = ContinuousClock(), tolerance: Duration = .zero,
        fileID: StaticString = #fileID, line: UInt = #line
    ) {
        require(
            edges.contains(.trailing), "a value settles at the end of a burst: its edges must include trailing",
            at: SourceSite(fileID, line))
        let link = Link()
        isDuplicate = removingDuplicates
        self.link = link
        state = State(last: Setting(value: value), settled: Setting(value: value))
        debouncer = Debouncer(
            for: wait, maxWait: maxWait, edges: edges,
            options: .init(spacing: spacing, atEnd: .drop, tolerance: tolerance), clock: clock, fileID: fileID,
            line: line
        ) {
            @MainActor setting in
            link.owner?.settle(setting)
        }
        link.owner = self
    }

    /// Settles the value before it returns: when a field is left, for example.
    public func flush() {
        guard state.isSettling else { return }
        // The spacing counts from this instant, and the value settles now rather than when the handler gets to run.
        debouncer.flush()
        settle(state.last)
    }

    /// Returns a stream of the values at which it settles from now on. The stream ends when the value is released.
    ///
    /// Each call returns a stream of its own, for one consumer. While the consumer is busy, the stream keeps the newest
    /// value.
    public func settledValues() -> AsyncStream<Value> {
        listeners.add()
    }

    // Both change the state before anything else, and then notify with nothing left to do. Whatever is called may set
    // and flush the value: observers, a comparison, and the `deinit` of a value, which is why the old values are held
    // until the end.

    private func set(_ value: Value) {
        let old = state
        state.last = Setting(value: value, number: old.last.number + 1)
        debouncer.submit(state.last)
        withMutation(keyPath: \.value) {}
        if !old.isSettling { withMutation(keyPath: \.isSettling) {} }
        withExtendedLifetime(old) {}
    }

    private func settle(_ setting: Setting) {
        let isSame = isDuplicate?(state.settled.value, setting.value) ?? false
        let old = state
        // A flush has settled it, or a later value, already.
        guard old.settled.number < setting.number else { return }
        state.settled = Setting(value: isSame ? old.settled.value : setting.value, number: setting.number)
        let isSettling = state.isSettling
        if !isSame {
            listeners.send(setting.value)
            withMutation(keyPath: \.settled) {}
        }
        if !isSettling { withMutation(keyPath: \.isSettling) {} }
        withExtendedLifetime(old) {}
    }
}

/// Streams of the same values, which end when this is released.
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

    func send(_ value: Value) {
        // What the streams drop is released when all of them have the value.
        let results = lock.withLock { Array(streams.values) }.map { $0.yield(value) }
        withExtendedLifetime(results) {}
    }
}
