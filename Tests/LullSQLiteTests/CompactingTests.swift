import Foundation
import Lull
import LullCore
import LullDurable
import TestSupport
import Testing

@testable import LullSQLite

/// Compacting makes a file smaller while other processes use it.
@Suite(.ownThreads, .timeLimit(.minutes(3))) struct CompactingTests {
    private let disk = FaultyDisk()
    private let place: Place
    private let machine = Machine()

    init() throws {
        place = try Place()
    }

    private func open(vfs: String? = nil) throws -> SQLiteFile {
        var options = SQLiteFile.Options(machine)
        options.vfs = vfs
        return try SQLiteFile(place.path, options)
    }

    private func size() -> Int {
        (try? FileManager.default.attributesOfItem(atPath: place.path)[.size] as? Int) ?? -1
    }

    /// Submits to many keys, and cancels most of them.
    private func fill(_ file: SQLiteFile, count: Int = 3000) throws {
        try file.open(try debounce(3600))
        let value = [UInt8](repeating: 7, count: 3000)
        let calls = (0..<count).map { number in
            StoreCall.submit(DurableSubmission(namespace: "n", key: bytes("key \(number)"), value: value))
        }
        file.write(calls)
        let cancels = (0..<count).filter { !$0.isMultiple(of: 20) }.map { number in
            StoreCall.succeeding { file throws(DurableError) in
                try file.change(.cancel, bytes("key \(number)"), in: file.namespace("n"), at: file.now)
            }
        }
        file.write(cancels)
        file.cleanUp()
    }

    @Test func `unused space is given back`() throws {
        let file = try open()
        try fill(file)
        let before = size()
        let start = ContinuousClock.now
        let sizes = try file.compact()
        print("from \(before) to \(size()) bytes in \(ContinuousClock.now - start)")
        #expect(sizes.isCut)
        #expect(sizes.after == size())
        #expect(size() < before / 4)
        #expect(try file.status()?.pending == 150)
        #expect(try place.number("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'") == 0)
        let again = try file.compact()
        #expect(again.before == again.after)
    }

    @Test func `other processes write between the steps`() throws {
        let file = try open()
        try fill(file, count: 6000)
        let path = place.path
        let submits = Guarded((count: 0, longest: Duration.zero, failures: [DurableError]()))
        let isOver = Guarded(false)
        let ended = DispatchSemaphore(value: 0)
        let clock = machine.clock
        let submitter = Thread {
            defer { ended.signal() }
            var options = SQLiteFile.Options()
            options.clock = clock
            guard let other = try? SQLiteFile(path, options) else { return }
            var number = 0
            while !isOver.value {
                let start = ContinuousClock.now
                do throws(DurableError) {
                    try other.submit(submission("other \(number % 50)", "value"))
                    let time = ContinuousClock.now - start
                    submits.change { $0 = ($0.count + 1, max($0.longest, time), $0.failures) }
                } catch {
                    submits.change { $0.failures.append(error) }
                }
                number += 1
            }
        }
        submitter.start()
        try blockUntil { submits.value.count >= 10 || !submits.value.failures.isEmpty }
        let before = submits.value.count
        _ = try file.compact()
        let meanwhile = submits.value.count - before
        isOver.change { $0 = true }
        ended.wait()
        print("\(meanwhile) submits meanwhile, the longest took \(submits.value.longest)")
        #expect(submits.value.failures == [])
        #expect(meanwhile > 0)
        #expect(try file.status()?.pending == 300 + min(50, submits.value.count))
        #expect(try place.number("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'") == 0)
    }

    @Test func `a file without auto-vacuum is rewritten while other processes have it open`() throws {
        var first: SQLiteFile? = try open()
        if let first { try fill(first) }
        first = nil
        try place.execute("PRAGMA auto_vacuum = NONE; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
        #expect(try place.number("PRAGMA auto_vacuum") == 0)
        let other = try open()
        let file = try open()
        try fill(file)
        let before = size()
        #expect(try other.status()?.pending == 150)
        _ = try file.compact()
        #expect(try place.number("PRAGMA auto_vacuum") == 2)
        #expect(size() < before / 4)
        for number in 0..<50 { try other.submit(submission("other \(number)", String(repeating: "v", count: 9000))) }
        #expect(try other.change(.cancel, allIn: "n") > 0)
        _ = try other.compact()
        #expect(try file.status()?.pending == 0)
        #expect(try place.number("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'") == 0)
    }

    @Test(arguments: [FaultyDisk.Effect.full, .error, .kill])
    func `a disk that fails loses nothing`(_ effect: FaultyDisk.Effect) throws {
        for call in stride(from: 0, to: 400, by: 37) {
            let bench = try CompactingTests()
            var file: SQLiteFile? = try bench.open(vfs: bench.disk.name)
            try file.map { try bench.fill($0, count: 400) }
            bench.disk.arm(effect, at: .write, after: call, lasts: effect == .full)
            _ = try? file?.compact()
            bench.disk.mend()
            file = nil
            if bench.disk.isOff { bench.disk.start() }
            let opened = try bench.open()
            #expect(try opened.status()?.pending == 20)
            _ = try opened.compact()
            let faults = try bench.place.number(
                "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'")
            #expect(faults == 0)
        }
    }
}
