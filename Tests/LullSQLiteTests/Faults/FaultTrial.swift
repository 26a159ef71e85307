import Lull
import LullCore
import LullDurable
import LullReference
import Testing

@testable import LullSQLite

/// A client that submits and works on a failing disk: the power is cut, the process is killed, the disk fails or is
/// full, at any call of SQLite. The seed determines everything that happens.
final class FaultTrial {
    private let disk: FaultyDisk
    private let place: Place
    private let machine = Machine()
    private var options: SQLiteFile.Options
    private var random: SplitMix
    private var file: SQLiteFile?
    /// Stands for another process that has the file open, and for one that reads it.
    private var other: SQLiteFile?
    private var reader: RawConnection?
    private var hasNamespace = false
    private var ledger = FaultLedger()
    private(set) var figures = FaultFigures()
    private var values = 0
    private var held: [DurableRun] = []
    /// The latest steps, for the report of a failure.
    private var history: [String] = []

    init(seed: UInt64, syncs: Bool) throws {
        random = SplitMix(seed: seed)
        disk = FaultyDisk(seed: seed)
        place = try Place()
        options = SQLiteFile.Options(machine, patience: .milliseconds(2))
        options.vfs = disk.name
        options.syncs = syncs
        options.longLog = random.pick([4, 12, 50])
    }

    /// Runs the trial.
    ///
    /// - Returns: The violation, if there is one.
    func run() throws -> String? {
        for _ in 0..<4 where ledger.finding == nil {
            arm()
            for _ in 0..<60 where ledger.finding == nil && !disk.isOff {
                if disk.hasFailed, random.oneIn(3) { break }
                step()
            }
            if !disk.hasFailed { disk.cut() }
            try recover()
        }
        if ledger.finding == nil { finish() }
        (file, other, reader) = (nil, nil, nil)
        return ledger.finding.map { "\($0)\nafter:\n\(history.suffix(40).joined(separator: "\n"))" }
    }

    private func log(_ what: String) { history.append("    " + what) }

    // MARK: - Faults

    private func arm() {
        figures.incidents += 1
        let effect = random.pick(FaultyDisk.Effect.allCases + [.cut, .cut, .errorAndLoss])
        var (calls, most) = random.pick([
            (FaultyDisk.Calls.any, 600), (.sync, 25), (.write, 150), (.truncate, 2), (.read, 100), (.lock, 60),
            (.sharedMemory, 300), (.open, 8), ([.sync, .truncate], 25), (.sync, 60),
        ])
        if effect == .full { (calls, most) = (.write, 150) }
        let files = random.oneIn(3) ? random.pick([FaultyDisk.Files.database, .log]) : .any
        let others = Int.random(in: 0...most, using: &random)
        let lasts = random.oneIn(2)
        let cut = random.oneIn(2) ? Int.random(in: 1...100, using: &random) : nil
        disk.arm(effect, at: calls, of: files, after: others, lasts: lasts, cut: cut)
        let more = (lasts ? ", lasts" : "") + (cut.map { ", then a cut after \($0)" } ?? "")
        log("armed: \(effect) at \(calls) of \(files) after \(others)\(more)")
    }

    /// Restarts what was stopped, and checks the file.
    private func recover() throws {
        if disk.isOff {
            (file, other, reader) = (nil, nil, nil)
            let lost = disk.start()
            log("started again, \(lost) writes lost")
            figures.lostWrites += lost
            figures.starts += 1
            held = []
            machine.pass(Int64.random(in: 0...3, using: &random))
            if random.oneIn(4) { machine.reboot(as: "boot \(random.next())", wallPasses: 1) }
        }
        disk.mend()
        log("mended")
        reader = nil
        // The store works again as soon as the disk does.
        do {
            try open()
            try submit(1, by: #require(file))
            if figures.accepted == 0 { ledger.fail("nothing is accepted by a disk without faults") }
            let broken = try #require(file).audit(isComplete: true)
            if let first = broken.first { ledger.fail("broken: \(first)") }
        } catch let error as DurableError {
            ledger.fail("broken: \(error), though the disk works")
        }
    }

    private func open() throws {
        if file == nil { file = try SQLiteFile(place.path, options) }
        try file?.open(try debounce(2, maxWait: 6, .collect))
        hasNamespace = true
    }

    // MARK: - Steps

    private func step() {
        do {
            guard let file, hasNamespace else { return try open() }
            let actor = other.flatMap { random.oneIn(3) ? $0 : nil } ?? file
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<8: try submit(Int.random(in: 1...4, using: &random), by: actor)
            case 8..<11: try claim(by: actor)
            case 11..<14: try report(by: actor)
            case 14: machine.pass(Int64.random(in: 1...3, using: &random))
            case 15: try manage(by: actor)
            case 16: actor.cleanUp()
            case 17: try repeatSubmit(by: actor)
            case 18: try look(by: actor)
            default: try comeAndGo()
            }
        } catch let error as DurableError {
            note(error)
        } catch {
            // Errors of the other program's reader do not matter.
        }
    }

    @discardableResult
    private func note(_ error: DurableError) -> FaultLedger.Answer {
        log("    ! \(error)")
        // A file that does not exist yet is unusable, if the disk keeps it from being made.
        if case .unusable(let why) = error, !why.contains("damaged"), !why.contains("not a database") {
            return .refused
        }
        return ledger.note(error)
    }

    private func submit(_ count: Int, by file: SQLiteFile) throws {
        var calls: [StoreCall] = []
        let answers = Guarded<[Int: Result<DurableReceipt, DurableError>]>([:])
        var submissions: [(value: Int, key: String, token: String?)] = []
        for _ in 0..<count {
            values += 1
            let key = "key \(Int.random(in: 0..<6, using: &random))"
            let token = random.oneIn(2) ? "token \(values)" : nil
            submissions.append((values, key, token))
        }
        for (value, key, token) in submissions {
            let submission = submission(key, value, token)
            calls.append(.submit(submission) { result in answers.change { $0[value] = result } })
        }
        file.write(calls)
        for (value, key, token) in submissions {
            guard let result = answers.value[value] else { return ledger.fail("\(value) got no answer") }
            record(value, key, token, result)
        }
    }

    private func submission(_ key: String, _ value: Int, _ token: String?) -> DurableSubmission {
        LullSQLiteTests.submission(key, "\(value)", token: token)
    }

    private func record(_ value: Int, _ key: String, _ token: String?, _ result: Result<DurableReceipt, DurableError>) {
        let plain = result.mapError { error -> DurableError in
            if case .unusable(let why) = error, note(error) == .refused { return .refused(why) }
            return error
        }
        switch plain {
        case .success: figures.accepted += 1
        case .failure(.unknown): figures.unknown += 1
        case .failure: figures.refused += 1
        }
        log("submit \(value) to \(key), \(token ?? "no token"): \(plain.map(\.generation))")
        ledger.submit(value, key, token: token, plain)
    }

    private func repeatSubmit(by file: SQLiteFile) throws {
        guard !ledger.unknown.isEmpty else { return }
        let value = random.pick(ledger.unknown)
        guard let submit = ledger.submits[value] else { return }
        ledger.repeats(value)
        do throws(DurableError) {
            let receipt = try file.submit(submission(submit.key, value, submit.token))
            record(value, submit.key, submit.token, .success(receipt))
        } catch {
            record(value, submit.key, submit.token, .failure(error))
        }
    }

    private func claim(by file: SQLiteFile) throws {
        do throws(DurableError) {
            let runs = try file.claim(
                LullSQLiteTests.claim(3, maxAttempts: 1_000_000, holding: held.map(\.number)))
            log("claim: \(runs.map { "\($0.id) \($0.submits)" })")
            for run in runs { ledger.handOut(run) }
            held += runs
        } catch {
            if note(error) == .unknown { ledger.loseClaim() }
        }
    }

    private func report(by file: SQLiteFile) throws {
        guard let run = held.popLast() else { return }
        let fails = random.oneIn(4)
        let kind: DurableReport.Kind = fails ? .failed("it broke", retry: .seconds(1)) : .completed
        do throws(DurableError) {
            let answer = try file.report(LullSQLiteTests.report(run, kind))
            log("report \(run.id) \(kind): \(answer)")
            if answer == .leaseLost || fails { return }
            ledger.complete(run)
            figures.executed += 1
        } catch {
            if note(error) == .unknown, !fails { ledger.mayHaveCompleted(run) }
        }
    }

    private func manage(by file: SQLiteFile) throws {
        let key = "key \(Int.random(in: 0..<6, using: &random))"
        let cancels = random.oneIn(3)
        log("\(cancels ? "cancel" : "flush") \(key)")
        do throws(DurableError) {
            _ = try file.write { transaction throws(DurableError) in
                cancels
                    ? try transaction.change(.cancel, bytes(key), in: transaction.namespace("n"), at: transaction.now)
                    : try transaction.change(.flush, bytes(key), in: transaction.namespace("n"), at: transaction.now)
            }
            if cancels { ledger.cancel(key, isCertain: true) }
        } catch {
            if cancels, note(error) == .unknown { ledger.cancel(key, isCertain: false) }
        }
    }

    private func look(by file: SQLiteFile) throws {
        _ = try file.status()
        _ = try file.hasForeignCommits()
        let known = ledger.submits.values.compactMap(\.receipt)
        guard !known.isEmpty else { return }
        let receipt = random.pick(known.sorted { ($0.generation, text($0.key)) < ($1.generation, text($1.key)) })
        if try file.state(of: receipt) == .forgotten { ledger.fail("lost: \(receipt) is unknown to the file") }
    }

    private func comeAndGo() throws {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: other = other == nil ? try SQLiteFile(place.path, options) : nil
        case 1: reader = nil
        case 2:
            file = nil
            file = try SQLiteFile(place.path, options)
        default:
            let reader = try RawConnection(place.path, vfs: disk.name)
            self.reader = reader
            try reader.execute("BEGIN")
            _ = try reader.number("SELECT count(*) FROM work")
        }
    }

    // MARK: - The end

    /// Does all remaining work, and compares it with the ledger.
    private func finish() {
        guard let file else { return }
        do throws(DurableError) {
            for submit in ledger.submits.values {
                guard let receipt = submit.receipt else { continue }
                if try file.state(of: receipt) == .forgotten { ledger.fail("lost: \(receipt) is unknown to the file") }
            }
            for _ in 0..<40 {
                machine.pass(40)
                let runs = try file.claim(LullSQLiteTests.claim(100, owner: 9, maxAttempts: 1_000_000))
                for run in runs {
                    ledger.handOut(run)
                    if try file.report(LullSQLiteTests.report(run, owner: 9)) == .accepted { ledger.complete(run) }
                    figures.executed += 1
                }
                if runs.isEmpty { break }
            }
            ledger.close()
            let broken = try file.audit(isComplete: true)
            if let first = broken.first { ledger.fail("broken: \(first)") }
            if let status = try file.status(), status.pending + status.ready + status.running > 0 {
                ledger.fail("something is left to do: \(status)")
            }
        } catch {
            ledger.fail("broken: \(error), though the disk works")
        }
    }
}
