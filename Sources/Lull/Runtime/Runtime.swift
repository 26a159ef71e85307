public import LullCore

/// The keys and the values of a debouncer or throttler, and its handler.
///
/// Most of it is compiled once for all types of keys and values. What it does with a key or a value is to move it: no
/// nested generic type, tuple or optional of one lies on the way of a submit or an execution, since unspecialised code
/// looks up the metadata of each (`make bench ROWS=due`).
@usableFromInline
package final class Runtime<Key: Hashable & Sendable, Value: Sendable, Output: Sendable>:
    RuntimeCore, @unchecked Sendable  // See the superclass.
{
    @usableFromInline typealias Cells = LullCore.Cells<Key, Value>

    let handler: Handler
    let onFailure: FailureHandler<Key>?
    /// What the keys have executed last, if executions with an unchanged value are left out.
    let executedValues: ExecutedValues<Key, Value>?
    var eventBuffers: [EventBuffer<Key>] = []
    var recordingBuffers: [RecordingBuffer<Key>] = []

    init(
        _ options: CheckedOptions, clock: any WakingClock, onFailure: FailureHandler<Key>?,
        removingDuplicates isDuplicate: (@Sendable (Value, Value) -> Bool)? = nil, handler: Handler
    ) {
        self.handler = handler
        executedValues = isDuplicate.map { ExecutedValues($0) }
        var options = options
        options.setup.removesDuplicates = isDuplicate != nil
        options.setup.isSynchronous = handler.queue != nil
        self.onFailure = onFailure
        super.init(options, clock: clock, queue: handler.queue, engine: Cells.engine(options.setup))
    }

    deinit {
        Cells.deinitialize(engine)
        for buffer in eventBuffers { buffer.end() }
        // No execution is left: what has started keeps its runtime.
    }

    /// The actor of the handler, if it has one.
    package var isolation: (any Actor)? {
        if case .task(let isolation, _) = handler { isolation } else { nil }
    }

    /// The key of a slot.
    func key(of slot: UInt32) -> Key { Cells.key(of: engine.slot(slot)).pointee }

    // MARK: - Submitting

    /// Finds the slot of a key, ``SlotEngine/recentSlot`` then. The caller holds the lock.
    @inlinable
    @inline(__always)
    func slot(of key: Key) -> Cells.Slot? {
        if let recent = engine.recent, Cells.key(of: recent).pointee == key { return recent }
        return lookUp(key)
    }

    @inlinable
    @inline(never)
    func lookUp(_ key: Key) -> Cells.Slot? {
        var found = engine.lookUp(UInt(bitPattern: key.hashValue))
        while let slot = found, Cells.key(of: slot).pointee != key { found = engine.lookUpNext() }
        return found
    }

    /// Returns the index of a key's slot, or `UInt32.max`. The caller holds the lock.
    func slotIndex(of key: Key) -> UInt32 { slot(of: key) == nil ? .max : engine.recentSlot }

    /// Submits a value without more: by far the most frequent call.
    @inlinable
    func submit(_ value: Value, for key: Key) {
        let now = self.now
        lock.lock()
        // The slow path records submits for observers.
        guard let slot = slot(of: key), !hasObservers else { return submitSlowPath(value, for: key, at: now) }
        switch engine.submitFastPath(slot, at: now) {
        case .instead:
            // The displaced value is released without the lock.
            var value = value
            let pending = Cells.value(of: slot)
            swap(&pending.pointee, &value)
            lock.unlock()
            withExtendedLifetime(value) {}
        case .behind:
            Cells.append(value, to: slot)
            lock.unlock()
        case .displaced:
            lock.unlock()
        case .alone, .shared, .undecided:
            submitSlowPath(value, for: key, at: now)
        }
    }

    /// Submits a value with a delay of its own, or a promise of its outcome.
    func submit(_ value: Value, for key: Key, wait: CoreDuration?, promise: Promise?) {
        let now = self.now
        lock.lock()
        _ = slot(of: key)
        submitSlowPath(value, for: key, at: now, wait, promise)
    }

    /// Submits what does not simply join a pending value. The caller holds the lock, under which it has looked the key
    /// up; this releases it.
    @usableFromInline
    func submitSlowPath(
        _ submitted: Value, for key: Key, at instant: CoreInstant, _ wait: CoreDuration? = nil,
        _ promise: Companion? = nil
    ) {
        let found = engine.recentSlot
        let hash = engine.recent?.pointee.hash ?? engine.lookedUpHash
        if engine.setup.whileRunning == .share { engine.submitter = TrackedWork.current?.run(of: number) }
        var index = engine.beginSubmit(at: found, at: instant, wait: wait)
        var orders = Orders()
        takeActions(&orders, at: engine.now)
        if hasObservers { recordSubmit(of: key) }
        if engine.isOverflowing {
            engine.dropOldest(for: &index)
            takeActions(&orders, at: engine.now)
        }
        if index == .max, !engine.isOverflowing {
            index = engine.addSlot(hash: hash)
            if index != .max { Cells.key(of: engine.slot(index)).initialize(to: key) }
        }
        let placement = engine.submit(at: index, wait: wait)
        var value = submitted
        var companion = promise
        if case .shared(let run) = placement { share(run, &companion) }
        engine.keep(&companion, at: index, placement)
        if index != .max { Cells.place(&value, &companion, placement, in: engine.slot(index), collects: collects) }
        if let fate = placement.fateOfDisplaced {
            if let companion { orders.add(.tell(companion, fate)) }
            if hasObservers { record(.init(fate), key, at: engine.now) }
        }
        takeActions(&orders, at: engine.now)
        unlock(performing: orders)
        // What was displaced is released without the lock.
        withExtendedLifetime(value) {}
    }

    /// Submits a value, and waits for its outcome.
    nonisolated(nonsending) func outcome(
        of value: Value, for key: Key, wait: CoreDuration? = nil
    ) async throws(CancellationError) -> Outcome<Output> {
        let promise = OutcomePromise<Output>()
        submit(value, for: key, wait: wait, promise: promise)
        guard await promise.wait(observer: workObserver, in: self.wait(in: "outcome(of:)", key)) else {
            throw CancellationError()
        }
        return promise.outcome
    }

    /// Returns a promise that passes the outcome to a completion, in a task of its own.
    func promise(
        for key: Key, _ completion: @escaping @Sendable @isolated(any) (Outcome<Output>) async -> Void
    ) -> Promise {
        // Weak: the engine keeps the promise. Its runtime delivers it.
        OutcomePromise<Output> { [weak self] outcome, run in
            self?.call(of: run, key, on: completion.isolation) { await completion(outcome) }
        }
    }

    // MARK: - Calls on one key

    /// Flushes or cancels a key.
    func call(_ kind: Sweep.Kind, _ key: Key) {
        let now = self.now
        handle { engine.call(kind, at: slotIndex(of: key), now) }
    }

    /// Flushes a key, and waits until all executions of it that run or wait then have ended, and their outcomes have
    /// been told.
    ///
    /// Inside an execution of the same debouncer it does not wait: that cannot wait for its own end.
    nonisolated(nonsending) func flushAndWait(_ key: Key) async {
        let waits = !isInsideHandler
        let now = self.now
        let waiter = handle {
            engine.call(.flush, at: slotIndex(of: key), now)
            return waits ? addWaiter(at: slotIndex(of: key)) : nil
        }
        guard let waiter else { return }
        if await waiter.promise.wait(observer: workObserver, in: wait(in: "flushAndWait(_:)", key)) { return }
        removePromise(of: waiter.id)
        lock.withLock { engine.removeWaiter(waiter.id, at: slotIndex(of: key)) }
    }

    /// Postpones what is pending under a key, without a value.
    func touch(_ key: Key, wait: CoreDuration? = nil) {
        let now = self.now
        handle {
            engine.touch(slotIndex(of: key), at: now, wait: wait)
            addToRecordings(key, isTouch: true)
        }
    }

    /// How things stand under a key.
    func state(of key: Key) -> WorkState {
        let now = self.now
        return WorkState(handle { engine.state(at: slotIndex(of: key), now) }, at: now)
    }

    // MARK: - Moving keys and values

    override func moveValues(_ orders: inout Orders, at now: CoreInstant) {
        for position in 0..<engine.actionCount {
            switch engine.actions[position] {
            case .start(let slot, let executions, let count, let serial, let due):
                start(RunID(slot: slot, serial: serial), executions, count, due, &orders)
            case .wait(let slot, let executions):
                Cells.wait(engine.slot(slot), engine.executions(executions), collects: collects)
            case .resolve(let slot, let fate):
                let memory = nextElement(of: &orders.values, as: Value.self)
                let companion = Cells.takePending(engine.slot(slot), to: memory, collects: collects)
                resolve(companion, slot, fate, &orders, at: now)
            case .resolveWaiting(let slot, let executions, let fate):
                let memory = nextElement(of: &orders.values, as: Value.self)
                let executions = engine.executions(executions)
                let companion = Cells.takeWaiting(executions, .max, to: memory, collects: collects)
                resolve(companion, slot, fate, &orders, at: now)
            case .resolveFirst(let slot, let executions, let fate):
                let executions = executions == .max ? nil : engine.executions(executions)
                orders.add(.resolve(Cells.takeFirst(engine.slot(slot), executions), fate))
                if hasObservers { record(.init(fate), key(of: slot), at: now) }
            case .cancel(let run): orders.add(.cancel(run))
            case .replace(let run, let fate): end(run, fate, &orders, at: now)
            case .overdue(let run): tellOverdue(run, &orders, at: now)
            case .resume(let waiter): orders.add(.resume(waiter))
            case .release(let slot): release(slot, &orders)
            case .retire(let executions): engine.free(executions: executions)
            }
        }
    }

    /// Tells the callers of an execution that goes on what has become of it.
    private func end(_ id: RunID, _ fate: NotExecutedError, _ orders: inout Orders, at now: CoreInstant) {
        guard let run = unended(id) else { return }
        if let companion = run.pointee.companion.take() { orders.add(.resolve(companion, fate)) }
        if hasObservers {
            record(.init(fate), key(of: id.slot), at: now, count: run.pointee.count, cause: run.pointee.cause)
        }
    }

    /// Lets a submit join an execution, with its promise if it has one.
    private func share(_ id: RunID, _ promise: inout Companion?) {
        guard let run = unended(id) else { return }
        run.pointee.count += 1
        guard let promise = promise.take() else { return }
        switch run.pointee.companion {
        case nil: run.pointee.companion = promise
        case let shared as Companions: shared.all.append(promise)
        case let first?: run.pointee.companion = Companions([first, promise])
        }
    }

    private func start(
        _ id: RunID, _ executions: UInt32, _ count: Int, _ due: Gate.Due, _ orders: inout Orders
    ) {
        var work: TrackedWork?
        if let workObserver {
            let tracked = makeWork(of: id, key: key(of: id.slot))
            workObserver.began(tracked)
            work = tracked
        }
        let run = allocateRun()
        let memory = Cells.value(behind: run)
        let companion =
            executions == .max
            ? Cells.takePending(engine.slot(id.slot), to: memory, collects: collects)
            : Cells.takeWaiting(engine.executions(executions), count, to: memory, collects: collects)
        run.initialize(
            to: StartedRun(id: id, count: due.count, cause: due.cause, at: due.at, work: work, companion: companion))
        start(run, &orders)
        // Where it may be left out, that is known when its handler would be called.
        if hasObservers, executedValues == nil { recordStart(of: run) }
    }

    /// Memory for an execution, and its value behind it.
    private func allocateRun() -> StartedRun.Pointer {
        let (stride, alignment) = Cells.layout(of: StartedRun.self)
        return UnsafeMutableRawPointer.allocate(byteCount: stride, alignment: alignment)
            .assumingMemoryBound(to: StartedRun.self)
    }

    /// Releases an execution that has ended, with its value. Called without the lock.
    func free(_ run: StartedRun.Pointer) {
        if !collects { Cells.value(behind: run).deinitialize(count: 1) }
        run.deinitialize(count: 1)
        UnsafeMutableRawPointer(run).deallocate()
    }

    /// The memory for one more element of an array of values or keys.
    private func nextElement<Element>(of array: inout RawArray, as type: Element.Type) -> UnsafeMutablePointer<Element>
    {
        if array.count == array.capacity {
            array.capacity = array.count + engine.actionCount
            let memory = UnsafeMutablePointer<Element>.allocate(capacity: array.capacity)
            if let old = array.memory?.assumingMemoryBound(to: Element.self) {
                memory.moveInitialize(from: old, count: array.count)
                old.deallocate()
            }
            array.memory = UnsafeMutableRawPointer(memory)
        }
        // Proof: there is memory for one more.
        return array.memory.unsafelyUnwrapped.assumingMemoryBound(to: Element.self) + array.count
    }

    private func resolve(
        _ companion: Companion?, _ slot: UInt32, _ fate: NotExecutedError, _ orders: inout Orders, at now: CoreInstant
    ) {
        if !collects { orders.values.count += 1 }
        if let companion { orders.add(.resolve(companion, fate)) }
        if hasObservers { record(.init(fate), key(of: slot), at: now, count: size(of: companion)) }
    }

    /// The number of values that a companion stands for.
    func size(of companion: Companion?) -> Int {
        guard collects, let companion else { return 1 }
        // Proof: where all values are kept, every companion is of this class.
        return unsafeDowncast(companion, to: Collected<Value>.self).count
    }

    /// Moves the key of a slot out, and frees the slot.
    private func release(_ index: UInt32, _ orders: inout Orders) {
        let slot = engine.slot(index)
        let key = Cells.key(of: slot)
        KeyIndex.check(KeyIndex.hash(key.pointee) == slot.pointee.hash)
        if !_isPOD(Key.self) {
            nextElement(of: &orders.keys, as: Key.self).moveInitialize(from: key, count: 1)
            orders.keys.count += 1
        }
        engine.free(slot: index)
    }

    override func release(_ orders: borrowing Orders) {
        release(orders.values, as: Value.self)
        release(orders.keys, as: Key.self)
    }

    private func release<Element>(_ array: RawArray, as type: Element.Type) {
        guard let elements = array.memory?.assumingMemoryBound(to: Element.self) else { return }
        elements.deinitialize(count: array.count)
        elements.deallocate()
    }

    // MARK: - Executing

    override func startTask(_ run: RunID, _ work: TrackedWork?) {
        guard case .task(let isolation, _) = handler else {
            preconditionFailure("an execution for a queue was to start in a task")
        }
        // Nobody asks for the name of work that no clock tracks.
        let work = work ?? TrackedWork(handling: run, of: number) { "" }
        let task = launch(work, workObserver, on: isolation) {
            await self.execute(run)
            self.workObserver?.ended(work)
        }
        register(task, run)
    }

    override func perform(_ run: StartedRun.Pointer, sendingBlock sendsBlock: Bool) {
        execute(run, sendingBlock: sendsBlock)
    }

    override func endCancelled(_ run: StartedRun.Pointer, at now: CoreInstant) {
        end(run, key(of: run.pointee.id.slot), CancellationError(), at: now)
        finish(run)
    }

    override func wakeObservers() {
        let (buffers, released) = lock.withLock { () -> ([EventBuffer<Key>], [RecordingBuffer<Key>.Chunk]) in
            (eventBuffers, recordingBuffers.flatMap { $0.takeUsedUp() })
        }
        for buffer in buffers { buffer.wake() }
        withExtendedLifetime(released) {}
    }
}
