// The calls of producers.
extension DurableReference {
    /// Returns what is known of a token: nil, or the number and the due instant that its submit was answered with, and
    /// whether the store may have forgotten it.
    public func answer(to token: String, at now: Int) -> (number: Int, due: Int?, mayBeForgotten: Bool)? {
        tokens.last { $0.token == token }.map { ($0.number, $0.due, now - $0.at > tokenLifetime) }
    }

    /// Records that a submit was accepted, with its number.
    ///
    /// - Returns: When the value is due, if it is not absorbed.
    public mutating func submit(
        _ key: String, value: Int, wait: Int?, token: String?, submitter: Int? = nil, at now: Int, number: Int
    ) -> Int? {
        settle(at: now)
        if !keys.contains(where: { $0.key == key }) {
            keys.append(KeyState(key: key, gate: ReferenceGate(setup.policy)))
        }
        guard let index = keys.firstIndex(where: { $0.key == key }) else { return nil }
        let newest = keys[index].newest
        if isIdle(index, at: now) || keys[index].isReborn ? number <= newest : number != newest + 1 {
            findings.append("#\(number) of \(key) follows #\(newest)")
        }
        keys[index].isReborn = false
        keys[index].newest = number
        keys[index].gate.forget(at: now)
        keys[index].gate.policy = setup.policy
        let due: Int?
        switch keys[index].gate.submit(at: now, wait: wait) {
        case .pending:
            join(key, value, number, by: submitter ?? 0, at: now)
            if interrupting == .whenSubmitted { interrupt(key, at: now) }
            due = keys[index].gate.due
        case .completes(let batch):
            join(key, value, number, by: submitter ?? 0, at: now)
            fallDue(key, batch, at: now)
            due = now
        case .leads(let batch):
            makeReady(
                Span(
                    key: key, numbers: number...number, values: [value], origins: [number], count: 1, first: now,
                    due: now, cause: batch.cause, place: .ready), at: now)
            due = now
        case .absorbed:
            absorb(key, number, at: now)
            due = nil
        }
        if let token { tokens.append(Token(token: token, number: number, due: due, at: now)) }
        return due
    }

    private mutating func join(_ key: String, _ value: Int, _ number: Int, by submitter: Int, at now: Int) {
        if let index = find(key, .pending) {
            spans[index].values = combine(spans[index].values, [value])
            spans[index].origins = combine(spans[index].origins, [number])
            spans[index].numbers = spans[index].numbers.lowerBound...number
            spans[index].count += 1
            spans[index].submitters.insert(submitter)
        } else {
            spans.append(
                Span(
                    key: key, numbers: number...number, values: [value], origins: [number], count: 1, first: now,
                    place: .pending, submitters: [submitter]))
        }
    }

    /// Absorbs a submit. If the value that stands for it still waits for a worker, the submit shares its fate.
    private mutating func absorb(_ key: String, _ number: Int, at now: Int) {
        if let index = find(key, .ready, .held) {
            spans[index].numbers = spans[index].numbers.lowerBound...number
        } else {
            spans.append(
                Span(
                    key: key, numbers: number...number, values: [], count: 0, first: now, place: .ended(.absorbed),
                    endedAt: now))
        }
    }

    func isIdle(_ index: Int, at now: Int) -> Bool {
        let key = keys[index].key
        let gate = keys[index].gate
        return gate.openUntil == nil && gate.next ?? .min <= now
            && find(key, .pending, .held, .ready, .claimed, .backoff) == nil
    }

    /// Conditions for keys: the beginning, how long ago the oldest submit was that no worker has, and a part of the
    /// error after which the run waits for another attempt.
    public struct Selection: Hashable, Sendable {
        /// The beginning of keys.
        public var prefix: String
        /// How long ago the oldest submit was, at least; nil for any time.
        public var age: Int?
        /// A part of the error; nil for any or none.
        public var error: String?

        /// Creates conditions.
        public init(prefix: String, age: Int?, error: String?) {
            self.prefix = prefix
            self.age = age
            self.error = error
        }
    }

    private func isSelected(_ key: String, _ selection: Selection?, at now: Int) -> Bool {
        guard let selection else { return true }
        guard key.hasPrefix(selection.prefix) else { return false }
        if let error = selection.error {
            guard let run = find(key, .backoff), spans[run].error?.contains(error) == true else { return false }
        }
        guard let age = selection.age else { return true }
        return spans.contains { span in
            span.key == key && [.pending, .held, .ready, .backoff].contains(span.place) && span.first <= now - age
        }
    }

    /// Flushes one key, or all of a selection.
    ///
    /// - Returns: The number of keys that had something.
    public mutating func flush(_ key: String?, _ selection: Selection? = nil, at now: Int) -> Int {
        settle(at: now)
        var count = 0
        let selected = keys.map { (key == nil || $0.key == key) && isSelected($0.key, selection, at: now) }
        for index in keys.indices where selected[index] {
            var hadSomething = false
            if let batch = keys[index].gate.flush(at: now) {
                fallDue(keys[index].key, batch, at: now)
                hadSomething = true
            }
            if let held = find(keys[index].key, .held) {
                var span = spans.remove(at: held)
                (span.due, span.cause) = (now, .flush)
                makeReady(span, at: now)
                keys[index].gate.noteDue(at: now)
                hadSomething = true
            }
            if let run = find(keys[index].key, .backoff), spans[run].until > now {
                spans[run].until = now
                hadSomething = true
            }
            if hadSomething { count += 1 }
        }
        return count
    }

    /// Flushes what is pending and comes from one submitter alone.
    ///
    /// - Returns: The keys, each with its newest number; and the number of others pending that several have submitted.
    public mutating func flush(submittedBy submitter: Int, at now: Int) -> (flushed: [String: Int], mixed: Int) {
        settle(at: now)
        var flushed: [String: Int] = [:]
        for index in keys.indices {
            guard let span = find(keys[index].key, .pending), spans[span].submitters == [submitter] else { continue }
            guard let batch = keys[index].gate.flush(at: now) else { continue }
            fallDue(keys[index].key, batch, at: now)
            flushed[keys[index].key] = keys[index].newest
        }
        return (flushed, mixed)
    }

    /// Cancels the same. What is dropped behind something ready shares its fate.
    ///
    /// - Returns: The number of submits behind it; and the number of others pending that several have submitted.
    public mutating func cancel(submittedBy submitter: Int, at now: Int) -> (cancelled: Int, mixed: Int) {
        settle(at: now)
        var cancelled = 0
        for index in keys.indices {
            guard let dropped = find(keys[index].key, .pending), spans[dropped].submitters == [submitter] else {
                continue
            }
            keys[index].gate.cancel()
            cancelled += spans[dropped].count
            if let ready = find(keys[index].key, .ready, .held) {
                spans[ready].numbers = spans[ready].numbers.lowerBound...spans[dropped].numbers.upperBound
                spans.remove(at: dropped)
            } else {
                end(dropped, .cancelled, at: now)
            }
        }
        return (cancelled, mixed)
    }

    private var mixed: Int { spans.count { $0.place == .pending && $0.submitters.count > 1 } }

    /// Cancels one key, or all of a selection.
    ///
    /// - Returns: The number of submits behind what was dropped.
    public mutating func cancel(_ key: String?, _ selection: Selection? = nil, at now: Int) -> Int {
        settle(at: now)
        var count = 0
        let selected = keys.map { (key == nil || $0.key == key) && isSelected($0.key, selection, at: now) }
        for index in keys.indices where selected[index] {
            keys[index].gate.cancel()
            while let dropped = find(keys[index].key, .pending, .held, .ready, .backoff) {
                count += spans[dropped].count
                end(dropped, .cancelled, at: now)
            }
        }
        return count
    }
}
