public import LullCore

extension Runtime {
    /// The executions that the queue of a synchronous handler has not come to, in order.
    ///
    /// They lie in a slab, so that one that is told to stop can be taken out by its place, whatever their number, and are
    /// linked to each other.
    @frozen
    @usableFromInline
    struct ReadyRuns: ~Copyable {
        @usableFromInline var runs = Slab<QueueRun>()
        @usableFromInline var first = UInt32.max
        @usableFromInline var last = UInt32.max

        @inlinable
        init() {}

        @inlinable
        var isEmpty: Bool { runs.count == 0 }

        @inlinable
        var count: Int { runs.count }

        /// Adds an execution behind the others, and returns its place.
        @inlinable
        mutating func append(_ run: consuming QueueRun) -> UInt32 {
            run.previous = last
            let place = runs.insert(consume run)
            if last == .max {
                first = place
            } else {
                let neighbour = runs[last]
                neighbour.pointee.next = place
            }
            last = place
            return place
        }

        /// Moves the first execution to where nothing is initialised, if there is one.
        @inlinable
        mutating func moveFirst(to destination: UnsafeMutablePointer<QueueRun>) -> Bool {
            guard first != .max else { return false }
            move(first, to: destination)
            return true
        }

        /// Moves the execution at a place to where nothing is initialised.
        @inlinable
        mutating func move(_ place: UInt32, to destination: UnsafeMutablePointer<QueueRun>) {
            runs.move(place, to: destination)
            let (previous, next) = (destination.pointee.previous, destination.pointee.next)
            if previous == .max {
                first = next
            } else {
                let neighbour = runs[previous]
                neighbour.pointee.next = next
            }
            if next == .max {
                last = previous
            } else {
                let neighbour = runs[next]
                neighbour.pointee.previous = previous
            }
        }
    }
}
