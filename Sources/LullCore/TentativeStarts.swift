/// The starts that a limit has counted since the earliest that may still be taken back: that of an execution whose
/// value may turn out to be unchanged (<doc:Semantics>, section 7).
struct TentativeStarts {
    private struct Start {
        let at: CoreInstant
        var isTentative = true
        var counts = true
    }

    /// What the limit allowed before the first of them.
    private var before: RateLimiter
    /// All starts, from that with the number `firstSerial` on, without a gap.
    private var starts: [Start] = []
    private var firstSerial: UInt64 = 0
    /// How many of them, from the first on, have been confirmed, and are counted in `before`.
    private var doneCount = 0

    init(before limiter: RateLimiter) { before = limiter }

    /// Adds a start, with what the limit allowed before it.
    mutating func add(_ serial: UInt64, at instant: CoreInstant, before limiter: RateLimiter) {
        if starts.isEmpty {
            before = limiter
            firstSerial = serial
        }
        starts.append(Start(at: instant))
    }

    /// Lets a start stand, unless it has been taken back.
    mutating func confirm(_ serial: UInt64) {
        guard let index = tentativeIndex(of: serial) else { return }
        starts[index].isTentative = false
        countConfirmed()
    }

    /// Takes a start back, and returns what the limit allows without it; nil if it stands.
    mutating func takeBack(_ serial: UInt64) -> RateLimiter? {
        guard let index = tentativeIndex(of: serial) else { return nil }
        starts[index].isTentative = false
        starts[index].counts = false
        countConfirmed()
        var limiter = before
        for start in starts.dropFirst(doneCount) where start.counts { limiter.start(at: start.at) }
        return limiter
    }

    private func tentativeIndex(of serial: UInt64) -> Int? {
        guard serial >= firstSerial, serial - firstSerial < starts.count else { return nil }
        let index = Int(serial - firstSerial)
        return starts[index].isTentative ? index : nil
    }

    private mutating func countConfirmed() {
        while doneCount < starts.count, !starts[doneCount].isTentative {
            if starts[doneCount].counts { before.start(at: starts[doneCount].at) }
            doneCount += 1
        }
        // Each moves at most twice.
        if doneCount > starts.count / 2 {
            starts.removeFirst(doneCount)
            firstSerial += UInt64(doneCount)
            doneCount = 0
        }
    }
}
