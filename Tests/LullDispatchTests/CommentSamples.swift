import Foundation
import LullDispatch
import TestSupport
import Testing

// The code in the documentation comments of LullDispatch, in real time.

@Suite("The samples in the comments of LullDispatch")
@MainActor
struct CommentSamples {
    typealias Results = DocumentationSamples.Results

    /// Waits until this many results have been searched for.
    func wait(for count: Int, _ results: Results) async throws {
        try await waitUntil { results.texts.all.count >= count }
    }

    @Test
    func `the last task of a key`() {
        let volumes = Record<Int>()
        struct Speaker {
            let set: @Sendable (Int) -> Void
        }
        let (speaker, volume) = (Speaker { volumes.add($0) }, 7)
        LastOutQueue.default.enqueue(forKey: "volume") { speaker.set(volume) }
        LastOutQueue.default.executePendingTasks()
        #expect(volumes.all == [7])
    }

    @Test
    func `a closure, and an operation that waits`() async throws {
        let (results, operations, field) = (Results(), OperationQueue(), (text: "cat", tag: 1))
        let search = debounced(for: 0.3) { (text: String) in results.search(text) }
        search(field.text)

        let pause = DelayOperation(timeInterval: 0.01)
        let work = BlockOperation { results.search("dog") }
        work.addDependency(pause)
        for operation in [pause, work] { operations.addOperation(operation) }

        try await wait(for: 2, results)
        #expect(results.texts.all.sorted() == ["cat", "dog"])
    }

    /// Compiled only: the main queue has one throttle, which another test uses at the same time.
    func throttle(_ results: Results, _ field: (text: String, tag: Int)) {
        Origins.Throttle.onMainQueue(by: 0.3) { results.search(field.text) }
    }

    @Test
    func `a debouncer on a queue`() async {
        struct File {
            let texts = Record<String>()
            func write(_ text: String) throws { texts.add(text) }
        }
        let (file, queue) = (File(), DispatchQueue(label: "files"))
        let write = Debouncer(for: .seconds(1), on: queue) { (text: String) in try file.write(text) }
        write("a")
        await write.flushAndWait()
        #expect(file.texts.all == ["a"])
    }

    @Test
    func `the end of a program`() async {
        let saved = Record<String>()
        let save = Debouncer(for: .seconds(1), on: DispatchQueue(label: "files")) { (text: String) in saved.add(text) }
        func end() {
            save.flushAndWait(timeout: .seconds(3))
        }
        save("a")
        end()
        #expect(saved.all == ["a"])
    }

    @Test
    func `delays that must all be over, and events`() {
        let printed = Record<String>()
        func print(_ text: String) { printed.add(text) }
        let queue = DelayedPreemptiveDispatchQueue()
        queue.delay(2) { print("first") }
        queue.delay(1) { print("second") }
        #expect(!queue.empty)
        queue.cancel()

        @Sendable func syncSteps() { printed.add("steps") }
        let sync = BackgroundDebouncer(timeInterval: 2)
        sync.handler = { syncSteps() }
        sync.flush()
        #expect(printed.all == ["steps"])
    }

    @Test
    func `the code of the comments is the code above`() throws {
        let comments = try ArticleCode(commentsIn: "Sources/LullDispatch")
        #expect(comments.samples.count >= 6)
        #expect(try comments.missing(from: "Tests/LullDispatchTests/CommentSamples.swift") == [])
    }
}
