internal import LullReference
internal import Lull
internal import LullDurable
internal import TestSupport
internal import Testing

/// Random calls on a store and on the reference model: producers and workers that lose answers, repeat themselves, die
/// and come back late, on a machine whose clocks jump and that restarts, in a time that is moved by hand.
///
/// Everything is determined by the seed. After every step the answers are compared with those of the model and with
/// books that the simulation keeps for itself; at the end a healthy worker does what is left.
package struct DurableSimulation: Sendable {
    private static let places = Guarded(0)

    private let maker: any StoreMaker

    private static let length = 40

    /// Runs simulations of so many steps together, unless the environment asks for another number, and records the
    /// first failure of a store. `LULL_SEED` chooses other steps or those of a failure.
    ///
    /// - Parameters:
    ///   - variable: The variable of the environment that sets the number.
    ///   - suite: The suite that repeats them.
    ///   - maker: Makes stores, for each simulation anew.
    package static func compare(
        steps variable: String, _ steps: Int, in suite: String, on maker: () throws -> any StoreMaker
    ) async throws {
        let seed = environment("LULL_SEED", default: UInt64(20_261_123))
        let trials = UInt64(max(1, environment(variable, default: steps) / length))
        var figures = SimulationFigures()
        for trial in 0..<trials {
            let outcome = try await DurableSimulation(maker: maker()).run(seed: seed &+ trial)
            figures = figures + outcome.figures
            if let finding = outcome.finding {
                let again = "LULL_SEED=\(seed &+ trial) \(variable)=\(length) swift test --filter \(suite)"
                Issue.record("\(again)\n\(finding)")
                return
            }
        }
        print("\(suite): \(trials) seeds, \(figures), no difference")
        #expect(figures.executions > figures.steps / 50)
    }

    /// Runs the simulation of a seed.
    ///
    /// - Returns: The counts, and the first failure of the store, from as few steps as lead to it.
    private func run(seed: UInt64) async throws -> (figures: SimulationFigures, finding: String?) {
        var random = SplitMix(seed: seed)
        let trial = SimulationTrial(length: Self.length, using: &random)
        let outcome = try await run(trial)
        guard outcome.finding != nil else { return (outcome.figures, nil) }
        return (outcome.figures, try await shrink(trial))
    }

    /// - Returns: Also after how many steps it was found.
    private func run(
        _ trial: SimulationTrial
    ) async throws -> (figures: SimulationFigures, finding: String?, steps: Int) {
        let number = Self.places.change { number in
            number += 1
            return number
        }
        let run = try await SimulationRun(trial, on: maker, at: "simulation-\(number)")
        var steps = 0
        do {
            for step in trial.steps where run.finding == nil {
                steps += 1
                try await run.take(step)
                try await run.check(steps)
            }
            if run.finding == nil { try await run.drain() }
            if run.finding == nil { try await run.compareAll() }
        } catch let error as DurableError {
            run.fail("\(error)")
        }
        run.figures.steps = steps
        run.figures.executions = run.books.executions
        run.figures.restarts = run.model.restarted
        try await run.close()
        return (run.figures, run.finding, steps)
    }

    /// Removes steps one by one, as long as the failure remains.
    private func shrink(_ trial: SimulationTrial) async throws -> String? {
        var trial = trial
        var (_, finding, count) = try await run(trial)
        trial.steps = Array(trial.steps.prefix(count))
        var length = max(1, trial.steps.count / 2)
        while true {
            var start = 0
            var hasShrunk = false
            while start < trial.steps.count {
                var smaller = trial
                smaller.steps.removeSubrange(start..<min(start + length, smaller.steps.count))
                let outcome = try await run(smaller)
                if let found = outcome.finding {
                    smaller.steps = Array(smaller.steps.prefix(outcome.steps))
                    (trial, finding, hasShrunk) = (smaller, found, true)
                } else {
                    start += length
                }
            }
            if length == 1, !hasShrunk { break }
            length = max(1, length / 2)
        }
        let steps = trial.steps.map { "    \($0)" }.joined(separator: "\n")
        let rule = trial.interrupting.map { "restart \($0)" } ?? "queue"
        let rules = "\(trial.setup), \(rule), at most \(trial.maxBatch ?? 0)"
        return finding.map { "\(rules), retention \(trial.retention)\n\(steps)\n=> \($0)" }
    }
}

/// The counts of simulations.
struct SimulationFigures: Sendable, CustomStringConvertible {
    /// The number of steps.
    var steps = 0
    /// Submits that reached the store, repeated ones among them.
    var submits = 0
    /// Runs that were completed.
    var executions = 0
    /// Producers and workers that died.
    var crashes = 0
    /// Answers that got lost on the way.
    var lostAnswers = 0
    /// Reports by workers that had lost their run.
    var lostLeases = 0
    /// Runs whose values went back for newer ones.
    var restarts = 0
    /// Restarts of the machine, and boot clocks that went back.
    var reboots = 0

    /// Adds two counts.
    static func + (left: SimulationFigures, right: SimulationFigures) -> SimulationFigures {
        var sum = left
        sum.steps += right.steps
        sum.submits += right.submits
        sum.executions += right.executions
        sum.crashes += right.crashes
        sum.lostAnswers += right.lostAnswers
        sum.lostLeases += right.lostLeases
        sum.restarts += right.restarts
        sum.reboots += right.reboots
        return sum
    }

    /// The counts as text.
    var description: String {
        "\(steps) steps, \(submits) submits, \(executions) executions, \(crashes) crashes, \(lostAnswers) lost "
            + "answers, \(lostLeases) lost leases, \(restarts) interruptions, \(reboots) restarts"
    }
}
