package import LullCore

/// A worker of a namespace, as its store knows it: the answer of ``DurableCoalescer/workers()``.
public struct DurableWorker: Hashable, Sendable {
    /// Which worker it is, and where it runs.
    package struct Identity: Hashable, Sendable {
        /// The number that the worker has drawn: its runs carry it as their owner.
        package var id: Int64
        /// The name of its machine.
        package var host: String
        /// The number of its process on that machine.
        package var process: Int64

        /// Creates an identity.
        package init(id: Int64, host: String, process: Int64) {
            self.id = id
            self.host = host
            self.process = process
        }
    }

    /// Which worker it is, and where it runs.
    package var identity: Identity
    /// The number that the worker has drawn: see ``DurableListedRun/worker``.
    public var id: Int64 { identity.id }
    /// The name of its machine.
    public var host: String { identity.host }
    /// The number of its process on that machine.
    public var process: Int64 { identity.process }
    /// How long ago it announced itself. Workers do so every minute.
    public var seen: Duration
    /// The number of runs that it holds. Those whose lease has expired count until another worker takes them over.
    public var running: Int

    /// Creates a worker.
    package init(_ identity: Identity, seen: Duration, running: Int) {
        self.identity = identity
        self.seen = seen
        self.running = running
    }
}

extension DurableWorker {
    /// How often a worker announces itself.
    package static var announcementInterval: CoreDuration { .seconds(60) }
    /// For how long a store remembers an announcement.
    package static var memory: CoreDuration { .seconds(24 * 3600) }
    /// For how long a worker without runs is listed after an announcement: two may fail or be late.
    private static var presence: Duration { .seconds(150) }

    /// Returns those of the announced workers that are to be listed, in their order.
    package static func listed(_ announced: [DurableWorker]) -> [DurableWorker] {
        announced.filter { $0.seen <= presence || $0.running > 0 }
            .sorted {
                ($0.identity.host, $0.identity.process, $0.identity.id) < (
                    $1.identity.host, $1.identity.process, $1.identity.id
                )
            }
    }
}
