import Allocations

/// The cost of one run of one side of a row, per operation.
struct Sample {
    /// Wall-clock time in nanoseconds.
    var wall: Double
    /// Nanoseconds of processor time of the thread that ran it. Unlike `wall` it excludes the time of other processes.
    var thread: Double
    /// Nanoseconds of processor time of all threads.
    var cpu: Double
    /// Calls of the allocator, by all threads.
    var allocations: Double

    /// Runs `body`, which performs this many operations.
    static func of(_ operations: Int, _ body: () -> Void) -> Sample {
        let allocations = allocations_made()
        let cpu = process_cpu_nanoseconds()
        let thread = thread_cpu_nanoseconds()
        let wall = boot_nanoseconds()
        body()
        let wallEnd = boot_nanoseconds()
        let threadEnd = thread_cpu_nanoseconds()
        let cpuEnd = process_cpu_nanoseconds()
        let allocationsEnd = allocations_made()
        let each = Double(operations)
        return Sample(
            wall: Double(wallEnd - wall) / each, thread: Double(threadEnd - thread) / each,
            cpu: Double(cpuEnd - cpu) / each, allocations: Double(allocationsEnd - allocations) / each)
    }
}

/// The samples of several sides of a row, taken in turns, so that a busy moment of the machine hits all of them.
struct Interleaved {
    private(set) var sides: [[Sample]]

    init(rounds: Int, _ bodies: [() -> Sample]) {
        sides = bodies.map { _ in [] }
        for round in 0..<rounds {
            // Back and forth, so that no side always comes first.
            let order = round.isMultiple(of: 2) ? Array(bodies.indices) : bodies.indices.reversed()
            for side in order { sides[side].append(bodies[side]()) }
        }
    }

    /// Joins the samples of the same sides.
    static func + (left: Interleaved, right: Interleaved) -> Interleaved {
        var sum = left
        for side in sum.sides.indices { sum.sides[side] += right.sides[side] }
        return sum
    }

    func spread(_ side: Int, _ figure: KeyPath<Sample, Double>) -> Spread {
        Spread(sides[side].map { $0[keyPath: figure] })
    }

    /// Returns the line of one side, compared with another.
    func line(
        _ subject: String, _ side: Int, against reference: String, _ other: Int,
        by figure: KeyPath<Sample, Double> = \.thread, _ target: Line.Target = .none
    ) -> Line {
        Line(
            subject, spread(side, figure), "ns", against: reference, spread(other, figure),
            ratio: ratio(side, to: other, figure), target: target)
    }

    /// Returns the ratio of two sides, round by round.
    func ratio(_ side: Int, to other: Int, _ figure: KeyPath<Sample, Double>) -> Spread {
        Spread(zip(sides[side], sides[other]).map { $0[keyPath: figure] / $1[keyPath: figure] })
    }
}

/// The median and the quartiles of repeated measurements.
struct Spread: Codable {
    var median: Double
    var lowerQuartile: Double
    var upperQuartile: Double
    var least: Double
    var most: Double

    init(_ values: [Double]) {
        let sorted = values.sorted()
        median = Self.quantile(0.5, ofSorted: sorted)
        lowerQuartile = Self.quantile(0.25, ofSorted: sorted)
        upperQuartile = Self.quantile(0.75, ofSorted: sorted)
        least = sorted.first ?? .nan
        most = sorted.last ?? .nan
    }

    /// Creates the spread of a figure that was measured once.
    init(_ value: Double) {
        self.init([value])
    }

    /// Returns the value that a share of all do not exceed, interpolated between two of them.
    static func quantile(_ share: Double, ofSorted values: [Double]) -> Double {
        guard !values.isEmpty else { return .nan }
        let position = share * Double(values.count - 1)
        let below = Int(position)
        let above = min(below + 1, values.count - 1)
        return values[below] + (position - Double(below)) * (values[above] - values[below])
    }
}
