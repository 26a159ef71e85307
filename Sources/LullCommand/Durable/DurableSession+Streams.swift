internal import CLullSystem
internal import LullCore
internal import LullDurable
internal import LullSQLite

// What comes in and what goes out of a session with a store.

extension DurableSession {
    // MARK: - Input

    mutating func readRecords() {
        do throws(Failure) {
            let filled = try reader.fill()
            let now = clock.now
            takeRecords(at: now)
            if case .end = filled { finish(at: now) }
        } catch {
            fail(error)
            finish(at: clock.now)
        }
    }

    /// Hands everything that has been read to the store, in one transaction.
    mutating func takeRecords(at now: CoreInstant) {
        var submissions: [(line: Int, submission: DurableSubmission)] = []
        reading: while isReading {
            switch reader.next() {
            case .incomplete: break reading
            case .tooLong: refuse("it is longer than \(RecordReader.longest >> 20) MiB", reader.number)
            case .record(let record):
                do throws(KeyRule.Fault) {
                    let key = try keyRule.key(of: record)
                    note(record, key, at: now)
                    let submission = DurableSubmission(
                        namespace: settings.namespace, key: key.bytes, value: Array(record))
                    submissions.append((reader.number, submission))
                } catch {
                    refuse("\(error)", reader.number)
                }
            }
        }
        submit(submissions, at: now)
        do { try recording?.write() } catch { giveUpRecording(error) }
        if status == ExitStatus.badData { finish(at: now) }
    }

    private mutating func submit(_ submissions: [(line: Int, submission: DurableSubmission)], at now: CoreInstant) {
        guard !submissions.isEmpty else { return }
        let batch = submissions.map(\.submission)
        do throws(DurableError) {
            let refusals = try file.write { transaction throws(DurableError) in
                var refusals: [(Int, DurableError)] = []
                for (place, submission) in batch.enumerated() {
                    do throws(DurableError) {
                        _ = try transaction.submit(submission)
                    } catch {
                        refusals.append((place, error))
                    }
                }
                return refusals
            }
            for (place, error) in refusals { refuse("\(error)", submissions[place].line) }
            hear(.success(()), at: now)
        } catch {
            // What is in the store stays there; what was read with this and comes after it is not ours.
            let count = submissions.count == 1 ? "1 record" : "\(submissions.count) records"
            fail(
                Failure(
                    status: ExitStatus.inputOutput, message: "\(count) from line \(submissions[0].line) on: \(error)"))
            finish(at: now)
        }
    }

    /// Skips a record that is bad data, or stops reading because of it.
    private mutating func refuse(_ why: String, _ line: Int) {
        streams.log.report("line \(line)\(settings.isStrict ? "" : " skipped"): \(why)")
        if settings.isStrict {
            status = ExitStatus.badData
            isReading = false
        }
    }

    /// Reads no more, and does with what is pending what the options say.
    mutating func finish(at now: CoreInstant) {
        guard !hasReadAll else { return }
        isReading = false
        hasReadAll = true
        let namespace = settings.namespace
        do throws(DurableError) {
            switch settings.atEnd ?? .flush {
            case .flush:
                _ = try file.write { transaction throws(DurableError) in try transaction.flush(nil, in: namespace) }
            case .drop:
                _ = try file.write { transaction throws(DurableError) in try transaction.cancel(nil, in: namespace) }
            case .wait: break
            }
        } catch {
            fail(Failure(error, subcommand))
            return drive(.stopped, at: now)
        }
        // Even if nothing was flushed: to find out whether anything is left.
        hear(.success(()), at: now)
    }

    /// Stops the worker when all has been read, and nothing that can be done now is left in the store.
    mutating func endIfNothingIsLeft(at now: CoreInstant) {
        guard hasReadAll, listening != nil, runs.isEmpty else { return }
        do throws(DurableError) {
            let left = try namespaceStatus()
            guard left.pending + left.ready == 0 else { return }
            if left.retrying > 0 {
                let what = left.retrying == 1 ? "1 run waits" : "\(left.retrying) runs wait"
                streams.log.report("\(what) in the store for another attempt")
            }
        } catch {
            fail(Failure(error, subcommand))
        }
        listening = nil
        drive(.stopped, at: now)
    }

    private func namespaceStatus() throws(DurableError) -> DurableStatus {
        let namespace = settings.namespace
        return try file.read { transaction throws(DurableError) in try transaction.status(of: namespace) }
    }

    // MARK: - Output

    mutating func writeOutput(_ events: Int16) {
        do throws(Failure) {
            if case .closed = try streams.writeOutput(events) { return closeOutput() }
        } catch {
            fail(error)
            return closeOutput()
        }
        guard streams.output.isEmpty, !unwritten.isEmpty else { return }
        let written = unwritten
        unwritten = []
        for run in written { drive(.ended(run: run, error: nil), at: clock.now) }
    }

    /// There is nobody to write for any more: what was not written goes back to the store.
    private mutating func closeOutput() {
        isReading = false
        hasReadAll = true
        streams.output.clear()
        drive(.stopped, at: clock.now)
    }

    /// Writes what is left to be said, waiting as long as it takes.
    mutating func drainStreams() {
        _ = try? streams.output.drain()
        _ = try? streams.log.drain()
    }

    mutating func fail(_ failure: Failure) {
        status = failure.status
        streams.log.report(failure.message)
    }

    mutating func reportStatistics() {
        do throws(DurableError) {
            streams.log.report(try namespaceStatus().line)
        } catch {
            streams.log.report("\(error)")
        }
    }

    // MARK: - Messages

    /// Says what becomes of a run whose command has failed.
    mutating func tell(of report: DurableReport) {
        guard case .failed(_, let retry) = report.word, let run = runs[report.run] else { return }
        if let retry {
            let time = DurationText.rounded(retry.nanoseconds)
            streams.log.report("\(subject(run)): attempt \(run.attempt) failed, the next is in \(time)")
        } else {
            streams.log.report("\(subject(run)): dead after attempt \(run.attempt)")
        }
    }

    /// What a message about a run begins with.
    func subject(_ run: DurableRun) -> String {
        let key = ShownText.beginning(String(decoding: run.key, as: UTF8.self))
        return key.isEmpty ? "run \(run.id)" : "key \(key), run \(run.id)"
    }

    private mutating func note(_ record: ByteSlice, _ key: Key, at now: CoreInstant) {
        do { try recording?.note(record, key, at: now) } catch { giveUpRecording(error) }
    }

    private mutating func giveUpRecording(_ failure: Failure) {
        fail(failure)
        recording = nil
    }
}

extension DurableReport.Word {
    /// Whether the run is no longer the worker's when this has been said.
    var isLast: Bool {
        if case .heartbeat = self { false } else { true }
    }
}

extension Settings {
    /// Refuses what has no meaning where a store keeps what is pending.
    func checkDurable(_ subcommand: Subcommand) throws(Failure) {
        if maxKeys != nil { throw .usage("--max-keys has no meaning with --store", subcommand) }
        if let whileRunning, whileRunning != .queue {
            throw .usage("--while-running must be queue with --store", subcommand)
        }
    }
}
