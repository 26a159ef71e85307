import LullCore
import TestSupport
import Testing

@testable import Lull

/// The deadlines of a scheduler, without any time.
@Suite("A deadline queue", .ownThreads)
struct ClientQueueTests {
    let scheduler = Scheduler()

    func client(tolerance: Int64 = 0) -> SchedulerClient {
        SchedulerClient(scheduler, nil, CoreDuration(nanoseconds: tolerance))
    }

    static func count(of queue: ClientQueue) -> Int { queue.strict.entries.count + queue.tolerant.entries.count }

    func at(_ nanoseconds: Int64) -> CoreInstant { CoreInstant(nanoseconds: nanoseconds) }

    func add(_ client: SchedulerClient, at instant: Int64, to queue: inout ClientQueue) {
        queue.set(client, to: at(instant), tolerance: client.tolerance)
    }

    @Test(arguments: 0..<20)
    func `holds each client once, wherever it moves, and gives them out in the order of their deadlines`(seed: UInt64) {
        var random = StressTests.Random(state: seed)
        var queue = ClientQueue()
        let clients = (0..<200).map { client(tolerance: $0 % 3 == 0 ? Int64.random(in: 1...50, using: &random) : 0) }
        var deadlines = [CoreInstant](repeating: .farFuture, count: clients.count)
        for _ in 0..<3000 {
            let number = Int.random(in: 0..<clients.count, using: &random)
            if Int.random(in: 0..<3, using: &random) == 0 {
                queue.remove(clients[number])
                deadlines[number] = .farFuture
            } else {
                deadlines[number] = at(Int64.random(in: 0..<500, using: &random))
                queue.set(clients[number], to: deadlines[number], tolerance: clients[number].tolerance)
            }
            let present = deadlines.filter { $0 != .farFuture }
            #expect(Self.count(of: queue) == present.count)
        }
        var popped = 0
        for now in 0..<500 {
            while let (client, deadline) = queue.pop(notAfter: at(Int64(now))) {
                let number = clients.firstIndex { $0 === client }
                #expect(number.map { deadlines[$0] } == deadline && deadline <= at(Int64(now)))
                #expect(client.index == -1 && client.latestIndex == -1)
                if let number { deadlines[number] = .farFuture }
                popped += 1
            }
            // All that were due by now are out.
            #expect(deadlines.allSatisfy { $0 > at(Int64(now)) })
        }
        #expect(popped > 0 && Self.count(of: queue) == 0)
        #expect(queue.wakeUp == nil)
    }

    @Test
    func `wakes strict clients exactly, the first one first`() {
        var queue = ClientQueue()
        let first = client(), second = client()
        add(second, at: 20, to: &queue)
        #expect(queue.wakeUp == .init(at: at(20), latest: at(20)))
        add(first, at: 10, to: &queue)
        #expect(queue.wakeUp == .init(at: at(10), latest: at(10)))
        queue.remove(first)
        #expect(queue.wakeUp == .init(at: at(20), latest: at(20)))
    }

    @Test
    func `wakes tolerant clients together, at the last deadline that the least tolerant one allows`() {
        var queue = ClientQueue()
        let all = [client(tolerance: 10), client(tolerance: 4), client(tolerance: 100), client(tolerance: 9)]
        for (client, deadline) in zip(all, [10, 12, 15, 30] as [Int64]) { add(client, at: deadline, to: &queue) }
        // The second one must be woken by 16; the third one's deadline is the last one before that.
        #expect(queue.wakeUp == .init(at: at(15), latest: at(16)))
        queue.remove(all[1])
        #expect(queue.wakeUp == .init(at: at(15), latest: at(20)))
    }

    @Test
    func `never delays a strict client for a tolerant one, nor wakes a tolerant one early`() {
        var queue = ClientQueue()
        let tolerant = client(tolerance: 50), strict = client()
        add(tolerant, at: 10, to: &queue)
        add(strict, at: 30, to: &queue)
        #expect(queue.wakeUp == .init(at: at(30), latest: at(30)))
        add(strict, at: 5, to: &queue)
        #expect(queue.wakeUp == .init(at: at(5), latest: at(5)))
        #expect(queue.pop(notAfter: at(9))?.client === strict)
        #expect(queue.pop(notAfter: at(9)) == nil)
        #expect(queue.wakeUp == .init(at: at(10), latest: at(60)))
    }

    @Test
    func `gives its memory back`() {
        var heap = DeadlineHeap(isByLatest: false)
        let clients = (0..<5000).map { _ in client() }
        for (number, client) in clients.enumerated() { heap.insert(client, at: at(Int64(number))) }
        #expect(heap.entries.capacity >= 5000)
        while !heap.entries.isEmpty { heap.remove(at: heap.entries.count / 2) }
        #expect(heap.entries.capacity <= 512)
    }
}
