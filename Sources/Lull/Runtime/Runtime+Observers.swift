public import LullCore

// Events and recordings. They are recorded where the engine answers, with the lock held, so that they stay in order. The observers
// are woken afterwards, without the lock; what buffers have dropped is released then.
extension Runtime {
    func observe(with buffer: EventBuffer<Key>) {
        changeObservers { $0.eventBuffers.append(buffer) }
    }

    func stopObserving(with buffer: EventBuffer<Key>) {
        changeObservers { $0.eventBuffers.removeAll { $0 === buffer } }
    }

    func startRecording(in buffer: RecordingBuffer<Key>) {
        changeObservers { $0.recordingBuffers.append(buffer) }
    }

    func stopRecording(in buffer: RecordingBuffer<Key>) {
        changeObservers { $0.recordingBuffers.removeAll { $0 === buffer } }
    }

    private func changeObservers(_ change: (Runtime) -> Void) {
        lock.withLock {
            change(self)
            hasObservers = !eventBuffers.isEmpty || !recordingBuffers.isEmpty
        }
    }

    /// Wakes the observers, and releases what event buffers and recordings have dropped. Called without the lock.
    @usableFromInline
    func wakeObservers() {
        let (buffers, released) = lock.withLock { () -> ([EventBuffer<Key>], [[RecordingBuffer<Key>.Entry]]) in
            (eventBuffers, recordingBuffers.flatMap { $0.takeUsedUp() })
        }
        for buffer in buffers { buffer.wake() }
        withExtendedLifetime(released) {}
    }

    func record(_ kind: Event<Key>.Kind, _ key: Key, at now: CoreInstant, count: Int = 1, edge: Edge? = nil) {
        let event = Event(kind: kind, key: key, at: Duration(origin.duration(to: now)), count: count, edge: edge)
        for buffer in eventBuffers { buffer.add(event) }
    }

    /// Records a submit and its consequences.
    ///
    /// - Returns: Whether the caller has to call ``wakeObservers()``.
    // Inlined into the user's module, with the recording buffer: unspecialised, a recorded submit took ten times as long (`make
    // bench ROWS=recording`). Events are not.
    @inlinable
    @inline(never)
    func recordSubmit(of key: Key, _ actions: EngineActions, at now: CoreInstant) -> Bool {
        var hasDropped = false
        for buffer in recordingBuffers where buffer.add(key, at: now) { hasDropped = true }
        guard hasEventBuffers else { return hasDropped }
        recordEvents(ofSubmit: key, actions, at: now)
        return true
    }

    @usableFromInline
    var hasEventBuffers: Bool { !eventBuffers.isEmpty }

    @usableFromInline
    func recordEvents(ofSubmit key: Key, _ actions: EngineActions, at now: CoreInstant) {
        record(actions.more[..<actions.dueBefore], at: now)
        record(.submitted, key, at: now)
        if actions.displaced != nil { record(kind(of: actions.fate), key, at: now) }
        record(actions.more[actions.dueBefore...], at: now)
    }

    /// Records actions of the engine.
    @usableFromInline
    func record(_ actions: ArraySlice<Action<Key, Item>>, at now: CoreInstant) {
        for action in actions {
            switch action {
            case .start(let execution):
                // An execution is recorded at its due instant, however late the timer was.
                record(.started, execution.key, at: execution.at, count: execution.count, edge: execution.edge)
            case .settle(let key, let batch, let fate):
                record(kind(of: fate), key, at: now, count: batch.size)
            case .cancel, .resume, .release:
                break
            }
        }
    }

    /// Takes the lock to report an end. If there are observers, reads the clock first, and not under the lock: it may be the user's.
    ///
    /// - Returns: The present instant for the observers.
    @inlinable
    func lockForEnd() -> CoreInstant {
        lock.lock()
        guard hasObservers else { return .farPast }
        lock.unlock()
        let now = clock.now()
        lock.lock()
        return now
    }

    /// Records the end of an execution and its consequences.
    @usableFromInline
    func recordEnd(
        of execution: Execution<Key, Item>, _ verdict: Verdict, _ actions: EngineActions, at now: CoreInstant
    ) {
        let kind: Event<Key>.Kind =
            switch verdict {
            case .executed: .finished
            case .failed: .failed
            case .superseded: .superseded
            case .cancelled: .cancelled
            case .interrupted: .interrupted
            }
        let count = verdict == .interrupted ? execution.batch.size : execution.count
        record(kind, execution.key, at: now, count: count, edge: execution.edge)
        record(actions.more[...], at: now)
    }

    @usableFromInline
    func kind(of fate: Fate) -> Event<Key>.Kind {
        switch fate {
        case .superseded: .superseded
        case .absorbed: .absorbed
        case .cancelled: .cancelled
        case .rejected(let why): .rejected(why)
        }
    }
}
