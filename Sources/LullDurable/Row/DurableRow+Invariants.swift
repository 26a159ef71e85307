internal import LullCore

// The rules that hold for a row between any two steps. Tests of stores check them, as do tests of other implementations of the
// steps.

extension DurableRow {
    /// Returns the rules of the row's own data that do not hold; empty unless there is a bug.
    package func checkInvariants() -> [String] {
        var broken = Broken()
        broken.unless(born <= taken && taken <= generation, "born \(born) ≤ taken \(taken) ≤ generation \(generation)")
        broken.unless((pending != nil) == (gate.count > 0), "something is pending exactly if the gate counts it")
        broken.unless(pending == nil || gate.isOpen, "the gate is open while something is pending")
        broken.unless(pending != nil || gate.phase != .full, "a full gate has something pending")
        broken.unless(gate.phase != .resting || gate.latest > .farPast, "a resting gate has a latest due instant")
        broken.unless(gate.phase != .idle || gate.latest == .farPast, "an idle gate has no latest due instant")
        var next = taken
        if let ready {
            broken.unless(ready.submits.lowerBound == next + 1, "what is ready begins after \(next)")
            next = ready.submits.upperBound
        }
        if pending != nil {
            broken.unless(
                gate.count <= generation - next, "\(gate.count) submits are pending, from \(next + 1) to \(generation)")
        } else {
            broken.unless(next == generation, "the newest submit is \(next), not \(generation)")
        }
        if let ready {
            broken.unless(1...ready.submits.count ~= ready.count, "\(ready.count) submits are in \(ready.submits)")
            broken.unless(ready.first <= ready.due, "nothing is due before it was submitted")
            broken.unless(ready.due <= ready.startable, "nothing may start before it is due")
        }
        if let run {
            broken.unless(run.value.submits.upperBound <= taken, "the run's submits have been taken")
            broken.unless(run.fence >= run.id, "the run's fence is not older than the run")
            broken.unless(run.attempt >= (run.isInBackoff ? 0 : 1), "the run has had \(run.attempt) attempts")
            broken.unless(!run.isInterrupted || !run.isInBackoff, "no worker has the run, which is interrupted")
            broken.unless(
                ready?.isHeld != true || run.value.submits.upperBound <= taken && run.mark == .farFuture,
                "a value is held beside a run that could go back")
        }
        return broken.rules
    }
}
