internal import LullCore

/// A worker of a ``StoreSimulation``: a machine, and the process on it, if there is one.
struct SimulatedWorker {
    /// The decisions of the process; nil if there is none.
    var machine: WorkerStateMachine?
    /// Which process it is: what was meant for an earlier one is dropped.
    var life = 0
    /// The numbers by which the store knows the processes that this place has had.
    var owners: [Int64] = []
    var asleepUntil = CoreInstant.farPast
    var cutOffUntil = CoreInstant.farPast
    var isStopping = false
    /// The alarm that has been scheduled.
    var alarm = CoreInstant.farPast
    /// The handlers that run, by run.
    var handlers: [Int64: Handler] = [:]
    /// The source of numbers for what it waits for.
    var numbers = 0
    /// The number of the wait for something to claim.
    var waiting: Int?
    /// The wait for interruptions.
    var watch: Watch?

    /// The number of the present process in the store.
    var owner: Int64 { owners.last ?? 0 }

    struct Handler {
        var run: DurableRun
        var endsAt: CoreInstant
        var fails: Bool
        var isCancelled = false
        /// Which end counts: it may be put off.
        var number = 0
    }

    struct Watch {
        var known: [Int64]
        var deadline: CoreInstant
        var number: Int
    }
}

/// Something that happens in a ``StoreSimulation``.
struct SimulatedEvent {
    enum Kind {
        case due([UInt8])
        case reachable(CoreInstant)
        case woke(CoreInstant)
        case alarm
        /// An event for the worker's machine.
        case event(WorkerStateMachine.Event)
        case handlerEnd(Int64, Int)
        case waitEnd(Int)
        case look(Int)
        /// A call of a worker reaches the store.
        case call(Call)
    }

    enum Call {
        case claim(DurableClaim)
        case report(DurableReport)
    }

    var at: CoreInstant
    var worker: Int
    var life: Int
    var kind: Kind
}

/// The events that are to come: by their instants, and those of one instant in their order.
struct EventQueue {
    private var events: [SimulatedEvent] = []

    var first: SimulatedEvent? { events.first }

    mutating func insert(_ event: SimulatedEvent) {
        let place = events.lastIndex { $0.at <= event.at }.map { $0 + 1 } ?? 0
        events.insert(event, at: place)
    }

    mutating func removeFirst() { events.removeFirst() }
}
