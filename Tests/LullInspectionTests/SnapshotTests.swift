import Foundation
import Lull
import LullTesting
import Testing

@testable import LullInspection

@Suite("A snapshot of a program")
struct SnapshotTests {
    private struct Failed: Error {}

    /// Returns what a snapshot says of the debouncers that a line of this file has made.
    private func rows(_ line: UInt) throws -> [[String: Any]] {
        let text = Snapshot.line(about: RuntimeRegistry.all, at: 1_500_000)
        let object = try JSONSerialization.jsonObject(with: Data(text)) as? [String: Any]
        return try #require(object).rows(madeAt: "LullInspectionTests/SnapshotTests.swift:\(line)")
    }

    @Test func `names the program, and has one line`() throws {
        let line = Snapshot.line(about: [], at: 12_034_500_000)
        #expect(line.last == UInt8(ascii: "\n") && line.filter { $0 == UInt8(ascii: "\n") }.count == 1)
        let object = try #require(JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
        #expect(object.number("lull") == 1)
        #expect(object.number("process") == Int(getpid()))
        #expect(object.seconds("time") == 12.0345)
        #expect(object.number("left") == 0)
        #expect(String(decoding: line, as: UTF8.self).contains(#""time":12.034500,"#))
    }

    @Test func `says what is pending, until when, and what has become of submits`() async throws {
        RuntimeRegistry.begin()
        let clock = ManualClock()
        let line: UInt = #line + 1
        let levels = KeyedDebouncer(for: .seconds(2), clock: clock, onFailure: { _, _ in }) { (key: Int, _: Int) in
            if key == 1 { throw Failed() }
        }
        #expect(try rows(line).first?.number("submitted") == 0)
        for key in [1, 1, 1, 2] { levels.submit(0, for: key) }
        await clock.advance(by: .milliseconds(500))
        levels.submit(0, for: 3)
        var row = try #require(rows(line).first)
        #expect(row.text("kind") == "KeyedDebouncer")
        #expect(row.text("policy") == "--wait 2s")
        #expect(row.number("keys") == 3)
        #expect(row.number("pending") == 3)
        #expect(row.number("superseded") == 2)
        #expect(row.seconds("dueIn") == 1.5)
        await clock.advance(by: .seconds(5))
        row = try #require(rows(line).first)
        #expect(row.number("started") == 3)
        #expect(row.number("executed") == 2)
        #expect(row.number("failed") == 1)
        #expect(row.number("overdue") == 0)
        #expect(row.number("pending") == 0)
        #expect(row["dueIn"] is NSNull)
        #expect(row.number("running") == 0)
        withExtendedLifetime(levels) {}
    }

    @Test func `has the debouncer of a sequence, and those without keys, by their own kinds`() async throws {
        RuntimeRegistry.begin()
        let (numbers, continuation) = AsyncStream.makeStream(of: Int.self)
        let line: UInt = #line + 1
        let sequence = numbers.throttled(every: .seconds(60))
        let debouncer = Debouncer(for: .seconds(1)) { (_: String) in }
        var iterator = sequence.makeAsyncIterator()
        continuation.yield(1)
        #expect(await iterator.next() == 1)
        #expect(try rows(line).first?.text("kind") == "Throttler")
        #expect(try rows(line).first?.text("policy") == "--throttle 1m")
        #expect(try rows(line + 1).first?.text("kind") == "Debouncer")
        continuation.finish()
        withExtendedLifetime(debouncer) {}
    }

    @Test func `has no debouncer that has been released, and keeps none`() throws {
        RuntimeRegistry.begin()
        let line: UInt = #line + 2
        do {
            let debouncer = Debouncer(for: .seconds(1)) { (_: Int) in }
            #expect(try rows(line).count == 1)
            withExtendedLifetime(debouncer) {}
        }
        #expect(try rows(line).isEmpty)
        for _ in 0..<10_000 { _ = Debouncer(for: .seconds(1)) { (_: Int) in } }
        #expect(RuntimeRegistry.entryCount < 5000)
    }

    @Test func `leaves out those with the fewest submits where there are too many`() throws {
        RuntimeRegistry.begin()
        let debouncers = (0...Snapshot.limit).map { _ in Debouncer(for: .seconds(3600)) { (_: Int) in } }
        for debouncer in debouncers.dropFirst() { debouncer(1) }
        let text = Snapshot.line(about: debouncers.map(\.runtime), at: 0)
        let object = try #require(JSONSerialization.jsonObject(with: Data(text)) as? [String: Any])
        #expect(object.number("left") == 1)
        let rows = try #require(object["debouncers"] as? [[String: Any]])
        #expect(rows.count == Snapshot.limit)
        #expect(rows.allSatisfy { $0.number("submitted") == 1 })
        for debouncer in debouncers { debouncer.cancel() }
    }

    @Test func `looks no keys up where there are many`() async throws {
        RuntimeRegistry.begin()
        let clock = ManualClock()
        let line: UInt = #line + 1
        let many = KeyedDebouncer(for: .seconds(2), clock: clock) { (_: Int, _: Int) in }
        for key in 0..<1000 { many.submit(0, for: key) }
        await clock.advance(by: .seconds(1))
        for key in 0..<1000 { many.submit(0, for: key) }
        let row = try #require(rows(line).first)
        #expect(row.number("keys") == 1000)
        // The next wake-up, which finds that nothing is due yet.
        #expect(row.seconds("dueIn") == 1)
    }

    @Test func `writes any text as JSON`() throws {
        let text = "a\"b\\c\u{1}\n\u{1F600}é"
        let value: JSONValue = ["text": .string(text), "small": .microseconds(1_000), "none": .microseconds(nil)]
        let object = try #require(JSONSerialization.jsonObject(with: Data(value.text)) as? [String: Any])
        #expect(object.text("text") == text)
        #expect(object.seconds("small") == 0.000001)
        #expect(object["none"] is NSNull)
    }
}
