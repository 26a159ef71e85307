/// Jobs at the end of the queues of actors, by which a clock finds the work that waits there for its turn.
///
/// A clock sees when work is to run without an actor, or on an actor that has no executor of its own
/// (``WorkObserver``). It does not see the queues of the main actor and of the actors of handlers that have one. Work
/// that has left the places that the clock sees is in one of these queues by then. When a job behind it has its turn,
/// the work has run: it has come back, which the clock sees, or it waits, or it has made other work on these actors
/// ready, which is found in the next round.
struct ActorProbe {
    /// How often each actor has a turn while nothing else happens: work that resumes other work on these actors this
    /// many times in a row, without leaving them once, is not found.
    static let rounds = 100

    /// The number of changes that the clock had seen when the probe began.
    let changes: Int
    let actors: [any Actor]
    private var turn = 0

    init(of actors: [any Actor], since changes: Int) {
        self.actors = actors
        self.changes = changes
    }

    /// The actor that has its turn.
    var actor: any Actor { actors[turn % actors.count] }

    /// The next turn, nil after the last one.
    var next: ActorProbe? {
        var next = self
        next.turn += 1
        return next.turn < Self.rounds * actors.count ? next : nil
    }
}

extension ManualClock {
    /// Begins a probe, or goes on with it on another actor.
    func begin(_ probe: ActorProbe) {
        Task.detached { await self.take(probe, on: probe.actor) }
    }

    private func take(_ probe: ActorProbe, on actor: isolated any Actor) {
        guard let next = goOn(probe) else { return }
        // Right here, without a thread of the pool in between.
        if next.actor === actor { Task { take(next, on: actor) } } else { begin(next) }
    }
}
