package import LullDurable

// Changing all keys: in steps, between which other processes write. Which rows it is about is read once, without a lock.

extension SQLiteTransaction {
    /// How long a step takes, about. The commit comes on top.
    private static let stepTime = Duration.milliseconds(20)
    /// The rows between two looks at the time.
    private static let rowsPerLook = 32

    /// Begins a change of all keys of a namespace.
    package mutating func sweep(of name: String) throws(DurableError) -> DurableSweep {
        try sweep(of: try namespace(name), at: now)
    }

    /// Makes a step of a change of all keys, and returns what is left.
    package mutating func change(
        _ change: DurableChange, _ sweep: DurableSweep, in name: String, for time: Duration = stepTime
    ) throws(DurableError) -> DurableSweep {
        let namespace = try namespace(name)
        let end = ContinuousClock.now.advanced(by: time)
        var sweep = sweep
        repeat {
            try self.change(change, &sweep, atMost: Self.rowsPerLook, in: namespace, at: now)
        } while !sweep.isComplete && ContinuousClock.now < end
        return sweep
    }
}
