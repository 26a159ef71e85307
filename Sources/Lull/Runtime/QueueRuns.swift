public import LullCore

extension Runtime {
    /// The executions of a synchronous handler, and the blocks on its queue that run them: a state machine, guarded by the
    /// runtime's lock.
    ///
    /// An execution is *ready* until a block takes it out, in order, or until it is cancelled:
    ///
    ///     append ─▶ ready ─▶ takeFirst ─▶ (running, then ended)
    ///                 └────▶ remove ────▶ (cancelled)
    ///
    /// A block is *sent* until the queue begins it. When it has run some executions, it ends, or is sent again if others are
    /// ready:
    ///
    ///     sendBlock(s) ─▶ sent ─▶ beginBlock ─▶ running ─▶ endBlock
    ///                       ▲                      │
    ///                       └───── resendBlock ────┘
    ///
    /// Ready executions are the elements of a slab and are linked to each other: cancelling one takes constant time. They are
    /// moved by pointers, in code that is specialised for the user's types (`make bench ROWS=due`).
    @frozen
    @usableFromInline
    struct QueueRuns: ~Copyable {
        @usableFromInline var ready = Slab<QueueRun>()
        @usableFromInline var first = UInt32.max
        @usableFromInline var last = UInt32.max
        /// How many blocks have been sent and have not begun.
        @usableFromInline var sentBlocks = 0
        @usableFromInline var runningBlocks = 0

        @inlinable
        init() {}

        @inlinable
        var isEmpty: Bool { ready.count == 0 }

        // MARK: - Executions

        /// Adds an execution behind the others, and returns its slot.
        @inlinable
        mutating func append(_ run: consuming QueueRun) -> UInt32 {
            run.previous = last
            let slot = ready.insert(consume run)
            if last == .max {
                first = slot
            } else {
                let neighbour = ready[last]
                neighbour.pointee.next = slot
            }
            last = slot
            return slot
        }

        /// Moves the first execution to uninitialised memory, if there is one.
        @inlinable
        mutating func takeFirst(to destination: UnsafeMutablePointer<QueueRun>) -> Bool {
            guard first != .max else { return false }
            remove(first, to: destination)
            return true
        }

        /// Moves the execution in a slot to uninitialised memory.
        @inlinable
        mutating func remove(_ slot: UInt32, to destination: UnsafeMutablePointer<QueueRun>) {
            ready.move(slot, to: destination)
            let (previous, next) = (destination.pointee.previous, destination.pointee.next)
            if previous == .max {
                first = next
            } else {
                let neighbour = ready[previous]
                neighbour.pointee.next = next
            }
            if next == .max {
                last = previous
            } else {
                let neighbour = ready[next]
                neighbour.pointee.previous = previous
            }
        }

        /// Whether any ready execution satisfies a condition. Visits them in order.
        func contains(where condition: (RunID) -> Bool) -> Bool {
            var slot = first
            while slot != .max {
                let run = ready[slot]
                if condition(run.pointee.execution.run) { return true }
                slot = run.pointee.next
            }
            return false
        }

        // MARK: - Blocks

        @inlinable
        var blocks: Int { sentBlocks + runningBlocks }

        /// Counts a block that the caller sends.
        @inlinable
        mutating func sendBlock() {
            sentBlocks += 1
        }

        /// Counts the blocks that the caller has to send so that every ready execution is run, and returns their number.
        @inlinable
        mutating func sendBlocks() -> Int {
            let wanted = min((ready.count + runsPerBlock - 1) / runsPerBlock, mostBlocks - blocks)
            let sent = max(0, wanted - sentBlocks)
            sentBlocks += sent
            return sent
        }

        /// Counts another block if one is needed, and returns whether the caller has to send it. On a concurrent queue it runs
        /// beside the caller.
        @inlinable
        mutating func sendAnotherBlock() -> Bool {
            guard !isEmpty, sentBlocks == 0, blocks < mostBlocks else { return false }
            sentBlocks = 1
            return true
        }

        /// A sent block begins.
        @inlinable
        mutating func beginBlock() {
            precondition(sentBlocks > 0, "a block has begun that was not sent")
            sentBlocks -= 1
            runningBlocks += 1
        }

        /// A running block ends.
        @inlinable
        mutating func endBlock() {
            precondition(runningBlocks > 0, "a block has ended that had not begun")
            runningBlocks -= 1
        }

        /// Ends a running block, and returns whether the caller has to send it again.
        @inlinable
        mutating func resendBlock() -> Bool {
            endBlock()
            guard !isEmpty, sentBlocks == 0 else { return false }
            sentBlocks = 1
            return true
        }
    }

    /// An execution that is ready to run on the handler's queue.
    @usableFromInline
    struct QueueRun: Sendable {
        @usableFromInline var execution: Execution<Key, Item>
        /// The execution as a clock tracks it, if one does.
        @usableFromInline let work: Work?
        /// Whether it was cancelled before a block took it.
        @usableFromInline var isCancelled = false
        /// The slots of its neighbours; `UInt32.max` for none.
        @usableFromInline var previous = UInt32.max
        @usableFromInline var next = UInt32.max

        @inlinable
        init(execution: consuming Execution<Key, Item>, work: Work?) {
            self.execution = execution
            self.work = work
        }
    }
}

/// How many executions a block runs at most: other blocks on the queue get their turn in between.
@usableFromInline let runsPerBlock = 16

/// How many blocks of one debouncer are on its queue at most: as many as a concurrent queue has threads for.
@usableFromInline let mostBlocks = 64
