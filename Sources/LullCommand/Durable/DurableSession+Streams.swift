internal import CLullCommand
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
            case .tooLong:
                let limit = "longer than \(RecordReader.longest >> 20) MiB"
                refuse("it is \(limit)", kind: limit, reader.number, at: now)
                note(ExitStatus.badData)
            case .record(let record):
                do throws(KeyRule.Fault) {
                    let key = try keyRule.key(of: record)
                    note(record, key, at: now)
                    let submission = DurableSubmission(
                        namespace: settings.namespace, key: key.bytes, value: Array(record), submitter: submitter)
                    submissions.append((reader.number, submission))
                } catch {
                    refuse("\(error)", kind: error.kind, reader.number, at: now)
                }
            }
        }
        submit(submissions, at: now)
        do { try recording?.write() } catch { giveUpRecording(error) }
        if !isReading { finish(at: now) }
    }

    private mutating func submit(_ submissions: [(line: Int, submission: DurableSubmission)], at now: CoreInstant) {
        guard !submissions.isEmpty else { return }
        let batch = submissions.map(\.submission)
        do throws(DurableError) {
            let answers = try file.write { transaction throws(DurableError) in
                batch.map { submission in
                    Result { () throws(DurableError) in try transaction.submit(submission) }
                }
            }
            for ((line, submission), answer) in zip(submissions, answers) {
                switch answer {
                case .success(let receipt):
                    hasSubmitted = true
                    if settings.atEnd == .wait { awaited[submission.key] = receipt.generation }
                case .failure(let error):
                    var kind: String?
                    if case .tooLarge(_, let limit) = error { kind = "larger than \(limit) bytes" }
                    refuse("\(error)", kind: kind, line, at: now)
                    note(Failure(error, subcommand).status)
                }
            }
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
    private mutating func refuse(_ why: String, kind: String? = nil, _ line: Int, at now: CoreInstant) {
        streams.refuse(line, why, kind: kind, isStrict: settings.isStrict, at: now)
        if settings.isStrict {
            status = ExitStatus.badData
            isReading = false
        }
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
        for run in written { drive(.handlerEnded(run: run, error: nil), at: clock.now) }
    }

    /// There is nobody to write for any more: what was not written goes back to the store.
    private mutating func closeOutput() {
        isReading = false
        hasReadAll = true
        streams.output.clear()
        stop(.stop, at: clock.now)
    }

    /// Writes what is left to be said, waiting as long as it takes; a second signal ends the program all the same.
    mutating func drainStreams() {
        while !streams.areEmpty {
            var interests = streams.interests(
                signals: signals.descriptor, alarm: -1, input: -1, watchesOutput: false)
            guard poll(&interests, nfds_t(interests.count), -1) >= 0 else { continue }
            if interests[0].revents != 0 {
                for number in signals.received() where Signals.isEnding(number) {
                    if endingSignal != nil { Signals.end(by: number) }
                    endingSignal = number
                }
            }
            if interests[3].revents != 0, (try? streams.writeOutput(interests[3].revents)) != .some(.some) {
                streams.output.clear()
            }
            if interests[4].revents != 0 { streams.writeLog() }
        }
    }

    mutating func fail(_ failure: Failure) {
        status = failure.status
        streams.log.report(failure.message)
    }

    /// Notes a failure for the end, unless there has been one.
    private mutating func note(_ failure: Int32) {
        if status == ExitStatus.success { status = failure }
    }

    mutating func reportStatistics() {
        do throws(DurableError) {
            streams.log.report("\(try namespaceStatus().line), skipped \(streams.skipped)", isCut: false)
        } catch {
            streams.log.report("\(error)")
        }
    }

    // MARK: - Messages

    /// Says what becomes of a run whose command has failed.
    mutating func tell(of report: DurableReport) {
        guard case .failed(_, let retry) = report.kind, let run = runs[report.run] else { return }
        if let retry {
            let time = DurationText.rounded(retry.nanoseconds)
            streams.log.report("\(subject(run)): attempt \(run.attempt) failed, the next is in \(time)")
        } else {
            streams.log.report("\(subject(run)): dead after attempt \(run.attempt)")
        }
    }

    /// What a message about a run begins with.
    func subject(_ run: DurableRun) -> String {
        run.key.isEmpty ? "run \(run.id)" : "key \(Terminal.shown(run.key)), run \(run.id)"
    }

    private mutating func note(_ record: ByteSlice, _ key: Key, at now: CoreInstant) {
        do { try recording?.note(record, key, at: now) } catch { giveUpRecording(error) }
    }

    private mutating func giveUpRecording(_ failure: Failure) {
        fail(failure)
        recording = nil
    }
}

extension DurableReport.Kind {
    /// Whether the run is no longer the worker's when this has been said.
    var isLast: Bool {
        if case .heartbeat = self { false } else { true }
    }
}
