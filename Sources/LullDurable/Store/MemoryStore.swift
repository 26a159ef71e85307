internal import Lull
internal import LullCore

/// A store in memory, for tests of code that uses a ``DurableDebouncer``. Its contents are lost with it.
///
/// ```swift
/// let clock = ManualClock()
/// let store = MemoryStore(clock: clock)
/// let sync = try await DurableDebouncer<String, Change>(
///     for: .seconds(2), namespace: "sync", in: store, clock: clock)
/// ```
///
/// With the `ManualClock` of `LullTesting`, the test decides when values fall due (<doc:Testing>).
public final class MemoryStore: DurableStore {
    private struct State: WakingState {
        var table: MemoryTable
        var time: StoreTime
        var isClosed = false
        var wakeSignal = WakeSignal()
    }

    private let state: Guarded<State>
    private let clock: StoreClock

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - limits: How large a value may be, and how long ends and tokens are retained.
    ///   - clock: The clock that decides when values fall due, such as the `ManualClock` of `LullTesting`.
    public convenience init(limits: DurableLimits = DurableLimits(), clock: some Clock<Duration>) {
        self.init(limits: limits, on: StoreClock(clock))
    }

    /// Creates an empty store on the clocks of this machine, which continue while it sleeps.
    ///
    /// - Parameter limits: How large a value may be, and how long ends and tokens are retained.
    public convenience init(limits: DurableLimits = DurableLimits()) {
        self.init(limits: limits, on: .system)
    }

    package init(limits: DurableLimits = DurableLimits(), on clock: StoreClock) {
        self.clock = clock
        state = Guarded(State(table: MemoryTable(limits: limits), time: StoreTime(at: clock.read())))
    }

    /// Ends the use of the store: see ``DurableStore/close()``.
    public func close() async {
        state.changeAndWake { state in
            state.isClosed = true
            state.wakeSignal.signalAll()
        }
    }

    /// Returns the rules that do not hold between two steps; empty unless there is a bug.
    ///
    /// - Parameter isComplete: Whether no end can have been deleted or discarded.
    package func checkInvariants(isComplete: Bool) -> [String] {
        state.change { state in
            state.table.namespaces().flatMap { state.table.checkInvariants(of: $0, isComplete: isComplete) }
        }
    }
}

extension MemoryStore: RowStore {
    package typealias Table = MemoryTable

    /// Makes a step under the lock.
    package func step<Raw: Sendable, Answer: Sendable>(
        _ access: StepAccess, _ body: @escaping @Sendable (inout MemoryTable) throws(DurableError) -> Raw,
        then finish: @escaping @Sendable (Raw, inout WakeSignal) -> Answer
    ) async throws(DurableError) -> Answer {
        let reading = clock.read()
        let result = state.changeAndWake { state -> Result<Answer, DurableError> in
            guard !state.isClosed else { return .failure(.closed) }
            state.table.now = state.time.now(reading)
            state.table.wall = reading.wall
            let result = Result { () throws(DurableError) in try body(&state.table) }
            state.wakeSignal.signal(state.table.takeWritten())
            return result.map { finish($0, &state.wakeSignal) }
        }
        return try result.get()
    }

    package func waitForSignal(
        _ subject: WakeSignal.Subject, in namespace: String, after mark: Int64, atMost time: Duration
    ) async throws(DurableError) {
        if state.change({ $0.isClosed }) { throw .closed }
        await state.wait(for: subject, in: namespace, after: mark, atMost: time, by: clock) { $0.isClosed }
    }
}
