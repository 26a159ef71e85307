internal import LullCore

/// An execution that has started, until its end has been reported.
///
/// It lies in memory of its own, which does not move: the engine keeps the address, attached to the run. The value lies
/// in a cell behind it, unless all values are kept. Both belong to the runtime's lock until a block or the task takes
/// the execution.
struct StartedRun {
    typealias Pointer = UnsafeMutablePointer<StartedRun>

    let id: RunID
    /// The number of submits behind it, with those that share it.
    var count: Int
    let cause: Cause
    /// When it was due.
    let at: CoreInstant
    /// The execution as a clock tracks it, if one does.
    let work: TrackedWork?
    /// What goes with its value: the lock guards it.
    var companion: Companion?
    /// Its task, to be cancelled.
    var task: Task<Void, any Error>?
    /// Its neighbours among those that are ready.
    var previous: Pointer?
    var next: Pointer?
}

/// The executions that are ready for the handler's queue, and the blocks on it that run them: a state machine, guarded
/// by the runtime's lock.
///
/// An execution is *ready* until a block takes it out, in order, or until it is cancelled:
///
///     append ─▶ ready ─▶ takeFirst ─▶ (running, then ended)
///                 └────▶ remove ────▶ (cancelled)
///
/// A block is *sent* until the queue begins it. When it has run some executions, it ends, or is sent again if others
/// are ready:
///
///     sendBlock(s) ─▶ sent ─▶ beginBlock ─▶ running ─▶ endBlock
///                       ▲                      │
///                       └───── resendBlock ────┘
///
/// Ready executions are linked to each other: cancelling one takes constant time.
struct ReadyRuns {
    private var first: StartedRun.Pointer?
    private var last: StartedRun.Pointer?
    private var count = 0
    /// How many blocks have been sent and have not begun.
    private(set) var sentBlocks = 0
    private(set) var runningBlocks = 0

    // MARK: - Executions

    /// Adds an execution behind the others.
    mutating func append(_ run: StartedRun.Pointer) {
        run.pointee.previous = last
        if let last { last.pointee.next = run } else { first = run }
        last = run
        count += 1
    }

    /// Removes and returns the first execution, if there is one.
    mutating func takeFirst() -> StartedRun.Pointer? {
        guard let run = first else { return nil }
        remove(run)
        return run
    }

    /// Removes an execution.
    mutating func remove(_ run: StartedRun.Pointer) {
        let (previous, next) = (run.pointee.previous, run.pointee.next)
        if let previous { previous.pointee.next = next } else { first = next }
        if let next { next.pointee.previous = previous } else { last = previous }
        count -= 1
    }

    /// Whether any execution satisfies a condition. Visits them in order.
    func contains(where condition: (RunID) -> Bool) -> Bool {
        var run = first
        while let this = run {
            if condition(this.pointee.id) { return true }
            run = this.pointee.next
        }
        return false
    }

    // MARK: - Blocks

    /// How many executions a block runs at most: other blocks on the queue get their turn in between.
    static var runsPerBlock: Int { 16 }

    /// How many blocks of one debouncer are on its queue at most: as many as a concurrent queue has threads for.
    static var mostBlocks: Int { 64 }

    var blocks: Int { sentBlocks + runningBlocks }

    /// Counts a block that the caller sends.
    mutating func sendBlock() {
        sentBlocks += 1
    }

    /// Counts the blocks that the caller has to send so that every ready execution is run, and returns their number.
    mutating func sendBlocks() -> Int {
        let wanted = min((count + Self.runsPerBlock - 1) / Self.runsPerBlock, Self.mostBlocks - blocks)
        let sent = max(0, wanted - sentBlocks)
        sentBlocks += sent
        return sent
    }

    /// Counts another block if one is needed, and returns whether the caller has to send it. On a concurrent queue it
    /// runs beside the caller.
    mutating func sendAnotherBlock() -> Bool {
        guard count > 0, sentBlocks == 0, blocks < Self.mostBlocks else { return false }
        sentBlocks = 1
        return true
    }

    /// A sent block begins.
    mutating func beginBlock() {
        precondition(sentBlocks > 0, "a block has begun that was not sent")
        sentBlocks -= 1
        runningBlocks += 1
    }

    /// A running block ends.
    mutating func endBlock() {
        precondition(runningBlocks > 0, "a block has ended that had not begun")
        runningBlocks -= 1
    }

    /// Ends a running block, and returns whether the caller has to send it again.
    mutating func resendBlock() -> Bool {
        endBlock()
        guard count > 0, sentBlocks == 0 else { return false }
        sentBlocks = 1
        return true
    }
}
