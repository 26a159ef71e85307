@testable import LullCore

extension Slab {
    /// The bytes that it holds.
    var footprint: Int {
        allSegments.indices.reduce(segmentCapacity * MemoryLayout<Segment>.stride) { bytes, number in
            let elements = blocks(of: number).reduce(0) { $0 + Int($1.capacity) }
            return bytes + elements * stride
                + Int(allSegments[number].capacity) * MemoryLayout<Block>.stride
        }
    }
}

extension DeadlineQueue {
    /// The bytes that it holds.
    var footprint: Int {
        let chains = [redistributing, detached, spares] + allBuckets.map { $0.chain }
        return allBuckets.count * MemoryLayout<Bucket>.stride + ties.footprint
            + chains.flatMap { Self.chunks($0) }.reduce(0) { $0 + $1.footprint }
    }
}

extension TieQueue {
    fileprivate var footprint: Int {
        runs.pages.count * Heap<Run>.pageSize * MemoryLayout<Run>.stride + allRuns.reduce(0) { $0 + $1.chunk.footprint }
            + (gathering?.footprint ?? 0)
    }
}

extension DeadlineQueue.Chunk {
    fileprivate var footprint: Int {
        (capacity + 1) * MemoryLayout<DeadlineQueue.Entry>.stride
    }
}
