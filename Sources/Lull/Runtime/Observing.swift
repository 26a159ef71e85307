public import LullCore

// The story that observers are told. It is noted where the engine answers, with the lock held, so that it has the order
// in which things happened; the observers are woken afterwards, and what they have forgotten is released then.
extension Runtime {
    func observe(with buffer: EventBuffer<Key>) {
        changeWatch { $0.watchers.append(buffer) }
    }

    func stopObserving(with buffer: EventBuffer<Key>) {
        changeWatch { $0.watchers.removeAll { $0 === buffer } }
    }

    func record(in buffer: RecordingBuffer<Key>) {
        changeWatch { $0.recordings.append(buffer) }
    }

    func stopRecording(in buffer: RecordingBuffer<Key>) {
        changeWatch { $0.recordings.removeAll { $0 === buffer } }
    }

    private func changeWatch(_ change: (Runtime) -> Void) {
        lock.withLock {
            change(self)
            isWatched = !watchers.isEmpty || !recordings.isEmpty
        }
    }

    /// Wakes the observers, and releases what observers and recordings have forgotten. Called without the lock.
    @inlinable
    @inline(never)
    func wakeWatchers() {
        let (watchers, released) = lock.withLock { () -> ([EventBuffer<Key>], [[RecordingBuffer<Key>.Entry]]) in
            (self.watchers, recordings.flatMap { $0.entries.takeUsedUp() })
        }
        for watcher in watchers { watcher.wake() }
        withExtendedLifetime(released) {}
    }

    @inlinable
    func note(_ kind: Event<Key>.Kind, _ key: Key, at now: CoreInstant, count: Int = 1, edge: Edge? = nil) {
        let event = Event(kind: kind, key: key, at: Duration(origin.duration(to: now)), count: count, edge: edge)
        for watcher in watchers { watcher.add(event) }
    }

    /// Notes a submit and what came of it.
    ///
    /// - Returns: Whether ``wakeWatchers()`` is to be called for it.
    @inlinable
    @inline(never)
    func noteSubmit(of key: Key, _ actions: Answer, at now: CoreInstant) -> Bool {
        var hasUsedUp = false
        for recording in recordings where recording.add(key, at: now) { hasUsedUp = true }
        if watchers.isEmpty { return hasUsedUp }
        note(actions.more[..<actions.dueBefore], at: now)
        note(.submitted, key, at: now)
        if actions.displaced != nil { note(kind(of: actions.fate), key, at: now) }
        note(actions.more[actions.dueBefore...], at: now)
        return true
    }

    /// Notes what the engine wants done.
    @inlinable
    @inline(never)
    func note(_ actions: ArraySlice<Action<Key, Item>>, at now: CoreInstant) {
        for action in actions {
            switch action {
            case .start(let execution):
                // An execution is recorded at its due instant, whenever a timer got round to it.
                note(.started, execution.key, at: execution.at, count: execution.count, edge: execution.edge)
            case .settle(let key, let batch, let fate):
                note(kind(of: fate), key, at: now, count: batch.size)
            case .cancel, .resume, .release:
                break
            }
        }
    }

    /// Takes the lock to report an end, and reads the clock before if somebody wants to know when that was: a clock is not
    /// called under the lock.
    @inlinable
    func lockForEnd() -> CoreInstant {
        lock.lock()
        guard isWatched else { return .farPast }
        lock.unlock()
        let now = clock.now()
        lock.lock()
        return now
    }

    /// Notes the end of an execution, and what follows from it.
    @inlinable
    @inline(never)
    func noteEnd(
        of execution: Execution<Key, Item>, _ verdict: Verdict, _ actions: Answer, at now: CoreInstant
    ) {
        let kind: Event<Key>.Kind =
            switch verdict {
            case .executed: .finished
            case .failed: .failed
            case .superseded: .superseded
            case .cancelled: .cancelled
            }
        note(kind, execution.key, at: now, count: execution.count, edge: execution.edge)
        note(actions.more[...], at: now)
    }

    @inlinable
    func kind(of fate: Fate) -> Event<Key>.Kind {
        switch fate {
        case .superseded: .superseded
        case .absorbed: .absorbed
        case .cancelled: .cancelled
        case .rejected(let why): .rejected(why)
        }
    }
}
