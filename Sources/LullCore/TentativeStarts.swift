/// The starts that a limit has counted since the earliest that may still be taken back: that of an execution whose
/// value may turn out to be unchanged (<doc:Semantics>, section 7).
struct TentativeStarts {
    private struct Start {
        let serial: UInt64
        let at: CoreInstant
        var isTentative = true
    }

    /// What the limit allowed before the first of them.
    private var before: RateLimiter
    private var starts: [Start] = []

    init(before limiter: RateLimiter) { before = limiter }

    /// Adds a start, with what the limit allowed before it.
    mutating func add(_ serial: UInt64, at instant: CoreInstant, before limiter: RateLimiter) {
        if starts.isEmpty { before = limiter }
        starts.append(Start(serial: serial, at: instant))
    }

    /// Lets a start stand, unless it has been taken back.
    mutating func confirm(_ serial: UInt64) {
        guard let index = index(of: serial) else { return }
        starts[index].isTentative = false
        forgetConfirmed()
    }

    /// Takes a start back, and returns what the limit allows without it; nil if it stands.
    mutating func takeBack(_ serial: UInt64) -> RateLimiter? {
        guard let index = index(of: serial), starts[index].isTentative else { return nil }
        starts.remove(at: index)
        forgetConfirmed()
        var limiter = before
        for start in starts { limiter.start(at: start.at) }
        return limiter
    }

    private func index(of serial: UInt64) -> Int? { starts.firstIndex { $0.serial == serial } }

    private mutating func forgetConfirmed() {
        let count = starts.prefix { !$0.isTentative }.count
        for start in starts.prefix(count) { before.start(at: start.at) }
        starts.removeFirst(count)
    }
}
