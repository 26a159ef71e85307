internal import LullCore

// The functions that the page calls. Instants and durations are in nanoseconds; a negative duration, count, key or
// delay means none. Answers of more than one number are in the answer buffer.

// A WebAssembly module without threads runs one call after the other, so two calls never access this at once.
nonisolated(unsafe) var answers = AnswerBuffer()
nonisolated(unsafe) private var sessions: [EngineSession?] = []

/// Returns the address of the answers.
@c(lull_answer)
public func answer() -> UnsafeMutablePointer<Int64> { answers.numbers }

/// Returns the number of numbers in the answer buffer.
@c(lull_answer_count)
public func answerCount() -> Int32 { Int32(answers.count) }

/// Creates an engine.
///
/// - Returns: Its number; -1 if the settings break a rule, which is then in the answer buffer as a text.
@c(lull_create)
public func create(
    _ throttles: Int32, _ wait: Int64, _ maxWait: Int64, _ edges: Int32, _ extends: Int32, _ maxCount: Int32,
    _ spacing: Int64, _ combination: Int32, _ whileRunning: Int32, _ maxConcurrent: Int32, _ capacity: Int32
) -> Int32 {
    answers.clear()
    do throws(PolicyError) {
        let setup = try Setup(
            policy(throttles, wait, maxWait, edges, extends, maxCount, spacing),
            combination: CombinationRule(number: combination), whileRunning: OverlapPolicy(number: whileRunning),
            maxConcurrent: given(maxConcurrent), capacity: given(capacity))
        let free = sessions.firstIndex { $0 == nil } ?? sessions.count
        if free == sessions.count { sessions.append(nil) }
        sessions[free] = EngineSession(setup)
        return Int32(free)
    } catch {
        answers.append(error.description)
        return -1
    }
}

/// Destroys an engine.
@c(lull_destroy)
public func destroy(_ session: Int32) {
    sessions[Int(session)] = nil
}

/// Submits a value under a key.
@c(lull_submit)
public func submit(_ session: Int32, _ key: Int32, _ value: Int64, _ now: Int64, _ wait: Int64) {
    call(session) { session, out in
        session.submit(value, for: key, at: CoreInstant(nanoseconds: now), wait: given(wait), &out)
    }
}

/// Does everything that was due by now.
@c(lull_advance)
public func advance(_ session: Int32, _ now: Int64) {
    call(session) { session, out in session.advance(to: CoreInstant(nanoseconds: now), &out) }
}

/// Executes what is pending now, of a key or of all.
@c(lull_flush)
public func flush(_ session: Int32, _ key: Int32, _ now: Int64) {
    call(session) { session, out in session.flush(key < 0 ? nil : key, at: CoreInstant(nanoseconds: now), &out) }
}

/// Postpones what is pending under a key, as a submit would: "still busy".
@c(lull_touch)
public func touch(_ session: Int32, _ key: Int32, _ now: Int64, _ wait: Int64) {
    call(session) { session, out in
        session.touch(key, at: CoreInstant(nanoseconds: now), wait: given(wait), &out)
    }
}

/// Drops what is pending or waiting, of a key or of all.
@c(lull_cancel)
public func cancel(_ session: Int32, _ key: Int32, _ running: Int32, _ now: Int64) {
    call(session) { session, out in
        session.cancel(key < 0 ? nil : key, running: running != 0, at: CoreInstant(nanoseconds: now), &out)
    }
}

/// Rejects submits from now on, and flushes or drops what is pending.
@c(lull_shut_down)
public func shutDown(_ session: Int32, _ flushing: Int32, _ now: Int64) {
    call(session) { session, out in
        session.shutDown(flushing: flushing != 0, at: CoreInstant(nanoseconds: now), &out)
    }
}

/// Reports the end of an execution.
///
/// - Returns: 1, or 0 if there is no such execution.
@c(lull_ended)
public func ended(_ session: Int32, _ run: Int64, _ threw: Int32) -> Int32 {
    var wasRunning = false
    call(session) { session, out in
        wasRunning = session.ended(UInt64(bitPattern: run), threw: threw != 0, &out)
    }
    return wasRunning ? 1 : 0
}

/// Returns when to call ``advance(_:_:)`` next; the largest number for never.
@c(lull_alarm)
public func alarm(_ session: Int32) -> Int64 {
    sessions[Int(session)]?.alarm.nanoseconds ?? .max
}

/// Returns when the next value falls due, of a key or of all; the largest number for never.
@c(lull_next_due)
public func nextDue(_ session: Int32, _ key: Int32, _ now: Int64) -> Int64 {
    sessions[Int(session)]?.nextDue(key < 0 ? nil : key, at: CoreInstant(nanoseconds: now))?.nanoseconds ?? .max
}

/// Writes what became of the submits: submitted, executed, superseded, absorbed, cancelled, rejected, failed, pending,
/// running; then the number of open keys, and whether the counts add up.
@c(lull_counters)
public func counters(_ session: Int32) {
    call(session) { session, out in session.count(&out) }
}

/// Makes a policy of the numbers of the page.
func policy(
    _ throttles: Int32, _ wait: Int64, _ maxWait: Int64, _ edges: Int32, _ extends: Int32, _ maxCount: Int32,
    _ spacing: Int64
) throws(PolicyError) -> Policy {
    let edges = Edges(rawValue: UInt8(truncatingIfNeeded: edges))
    if throttles != 0 {
        return try .throttle(interval: CoreDuration(nanoseconds: wait), edges: edges, maxCount: given(maxCount))
    }
    return try .debounce(
        wait: CoreDuration(nanoseconds: wait), maxWait: given(maxWait), edges: edges,
        delayRule: extends != 0 ? .extend : .restart, maxCount: given(maxCount), spacing: given(spacing))
}

func given(_ number: Int32) -> Int? { number < 0 ? nil : Int(number) }

func given(_ nanoseconds: Int64) -> CoreDuration? {
    nanoseconds < 0 ? nil : CoreDuration(nanoseconds: nanoseconds)
}

private func call(_ session: Int32, _ body: (EngineSession, inout AnswerBuffer) -> Void) {
    answers.clear()
    if let session = sessions[Int(session)] { body(session, &answers) }
}
