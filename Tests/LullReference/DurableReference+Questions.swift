// Questions.
extension DurableReference {
    /// Returns the numbers of all submits of a key.
    public func numbers(of key: String) -> [Int] {
        spans.filter { $0.key == key }.flatMap { Array($0.numbers) }.sorted()
    }

    /// The keys that were ever seen.
    public var knownKeys: [String] { keys.map(\.key) }

    /// Returns the range of a submit, after everything due by now has fallen due.
    public mutating func span(of key: String, _ number: Int, at now: Int) -> Span? {
        settle(at: now)
        return spans.first { $0.key == key && $0.numbers.contains(number) }
    }

    /// Returns whether the store may have forgotten how a range has ended.
    public func mayBeForgotten(_ span: Span, at now: Int) -> Bool {
        switch span.place {
        case .ended(.dead): false
        case .ended(.discarded): true
        case .ended: now - span.endedAt > retention
        default: false
        }
    }

    /// Returns the number of keys, or of dead runs, with something in one of these places, after everything due by now
    /// has fallen due.
    public mutating func count(_ places: Place..., at now: Int) -> Int {
        settle(at: now)
        let found = spans.filter { places.contains($0.place) }
        return places == [.ended(.dead)] ? found.count : Set(found.map(\.key)).count
    }

    /// Returns the next instant at which there is something to claim: earlier than `now` if there is something now, nil
    /// if nothing is left.
    ///
    /// - Parameter claim: Runs that it does not take over do not count.
    public mutating func nextStart(at now: Int, besides claim: Claim? = nil) -> Int? {
        settle(at: now)
        if isPaused(at: now), pause?.end == nil { return nil }
        let kept = spans.filter { claim?.keeps($0) == true }.map(\.key)
        // Without a slot nothing starts before a lease ends, as far as the store knows.
        let startable = spans.filter {
            !($0.place == .ready && find($0.key, .claimed, .backoff) != nil) && (hasSlot || $0.place == .claimed)
                && claim?.keeps($0) != true
        }
        let next =
            (startable.compactMap(\.start)
            + (hasSlot ? keys.filter { !kept.contains($0.key) }.compactMap(\.gate.due) : [])).min()
        let earliest = max(setup.limit?.next(tat) ?? .min, isPaused(at: now) ? pause?.end ?? .min : .min)
        return next.map { max($0, earliest) }
    }

    /// Whether `maxConcurrent` of the setup, here the most runs that workers have, allows another one.
    var hasSlot: Bool { spans.count { $0.place == .claimed } < setup.maxConcurrent ?? .max }

    /// A rule of the model itself that does not hold: every submit is in one range, so that nothing is predicted twice.
    public var broken: String? {
        for key in keys {
            let numbers = numbers(of: key.key)
            if Set(numbers).count != numbers.count { return "\(key.key): ranges overlap in \(numbers)" }
            for place in [Place.pending, .held, .ready]
            where spans.count(where: { $0.key == key.key && $0.place == place }) > 1 {
                return "\(key.key): two ranges are \(place)"
            }
            if spans.count(where: { $0.key == key.key && ($0.place == .claimed || $0.place == .backoff) }) > 1 {
                return "\(key.key): two runs"
            }
        }
        return nil
    }
}
