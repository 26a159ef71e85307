import Dispatch
import Foundation
import LullDispatch
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#endif

/// In real time: threads are blocked.
@Suite("A flush that blocks")
struct BlockingFlushTests {
    @Test(arguments: [false, true])
    func `returns when what was pending has been handled`(onQueue: Bool) async {
        let seen = Record<Int>()
        let it =
            onQueue
            ? Debouncer(for: .seconds(1000), on: DispatchQueue(label: "it")) { (value: Int) in seen.add(value) }
            : Debouncer(for: .seconds(1000)) { (value: Int) async in
                await Task.yield()
                seen.add(value)
            }
        it.submit(1)
        #expect(await blocking { it.flushAndWait(timeout: .seconds(100)) })
        #expect(seen.all == [1])
        #expect(await blocking { it.flushAndWait(timeout: .zero) }, "nothing is pending")
    }

    @Test
    func `runs what is pending on the stack of a caller on the queue`() async {
        let (seen, queue) = (Record<Int>(), DispatchQueue(label: "it"))
        let it = KeyedDebouncer(for: .seconds(1000), on: queue) { (_: Int, value: Int) in seen.add(value) }
        for value in 1...3 { it.submit(value, for: value) }
        let isDone = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: it.flushAndWait(timeout: .seconds(100))) }
        }
        #expect(isDone && seen.all == [1, 2, 3])
    }

    @Test
    func `returns at the time limit, and what runs goes on`() async {
        let (door, seen) = (DispatchSemaphore(value: 0), Record<Int>())
        let it = Debouncer(for: .seconds(1000), on: DispatchQueue(label: "it")) { (value: Int) in
            door.wait()
            seen.add(value)
        }
        it.submit(1)
        #expect(await !blocking { it.flushAndWait(timeout: .milliseconds(5)) })
        door.signal()
        await it.flushAndWait()
        #expect(seen.all == [1])
    }

    @Test
    func `waits for a handler that was replaced`() async {
        let (door, begun) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let queue = DispatchQueue(label: "it", attributes: .concurrent)
        let it = Debouncer(for: .zero, on: queue, whileRunning: .replace) { (value: Int) in
            begun.signal()
            if value == 1 { door.wait() }
        }
        it.submit(1)
        await blocking { begun.wait() }
        it.submit(2)
        await blocking { begun.wait() }
        #expect(await !blocking { it.flushAndWait(timeout: .milliseconds(5)) })
        door.signal()
        #expect(await blocking { it.flushAndWait(timeout: .seconds(100)) })
    }

    #if os(Linux) || os(macOS)
        @Test
        func `is refused on the main thread for handlers of the main actor`() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { @MainActor in
                let it = Debouncer(for: .seconds(1000)) { @MainActor (_: Int) in }
                it.submit(1)
                func end() { it.flushAndWait(timeout: .seconds(1)) }
                end()
            }
            let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(
                message.contains("Lull: the handlers run on the main actor, and the main thread would wait for them"))
        }

        @Test
        func `saves at exit`() async {
            let result = await #expect(processExitsWith: .exitCode(7), observing: [\.standardOutputContent]) {
                saving.submit("draft")
                atexit { saving.flushAndWait(timeout: .seconds(100)) }
                exit(7)
            }
            let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
            #expect(output.contains("saved draft"))
        }
    #endif
}

private let saving = Debouncer(for: .seconds(1000)) { (draft: String) in
    try FileHandle.standardOutput.write(contentsOf: Data("saved \(draft)\n".utf8))
}
