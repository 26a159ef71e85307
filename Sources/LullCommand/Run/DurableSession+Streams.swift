internal import CLullCommand
internal import LullCore
internal import LullDurable

// The input, the output and the messages of a session with a store.

extension DurableSession {
    // MARK: - Input

    /// Submits everything that has been read to the store, in one transaction.
    mutating func takeRecords(at now: CoreInstant) {
        var submissions: [(line: Int, submission: DurableSubmission)] = []
        var isEnd = false
        reading: while !isEnd {
            switch loop.input.next(at: now, &loop.streams) {
            case .incomplete: break reading
            case .bad: isEnd = true
            case .record(let record, let key, let wait):
                let submission = DurableSubmission(
                    namespace: options.namespace, key: key.bytes, value: Array(record), wait: wait,
                    submitter: submitter)
                submissions.append((loop.input.reader.number, submission))
            }
        }
        if submit(submissions, at: now) { isEnd = true }
        loop.input.writeRecording(&loop.streams)
        if isEnd { endInput(at: now) }
    }

    /// - Returns: Whether the input ends here: under `--strict` at a bad record, or because the store has failed.
    private mutating func submit(
        _ submissions: [(line: Int, submission: DurableSubmission)], at now: CoreInstant
    ) -> Bool {
        guard !submissions.isEmpty else { return false }
        var isEnd = false
        let batch = submissions.map(\.submission)
        do throws(DurableError) {
            let answers = try store.change { try await $0.submit(batch) }
            for ((line, submission), answer) in zip(submissions, answers) {
                switch answer {
                case .success(let receipt):
                    hasSubmitted = true
                    if options.atEnd == .wait { awaited.generations[submission.key] = receipt.generation }
                case .failure(let error):
                    let kind: String? =
                        switch error {
                        case .tooLarge(_, let limit): "larger than \(limit) bytes"
                        case .keyTooLong(_, let limit): "with a key of more than \(limit) bytes"
                        default: nil
                        }
                    if loop.input.refuse(line, "\(error)", kind: kind, at: now, &loop.streams) { isEnd = true }
                    loop.streams.setStatus(Failure(error, subcommand).status)
                }
            }
            return isEnd
        } catch {
            // Earlier records stay in the store. These, and all that follow, were not submitted.
            let count = counted(submissions.count, "record")
            loop.streams.fail(.inputOutput("\(count) from line \(submissions[0].line) on: \(error)"))
            return true
        }
    }

    // MARK: - Output

    mutating func completeWritten() {
        guard loop.streams.output.isEmpty, !loop.streams.output.isGivenUp, !unwritten.isEmpty else { return }
        let written = unwritten
        unwritten = []
        driver.handle(written.map { .handlerEnded(run: $0, .returned) })
    }

    // MARK: - Messages

    mutating func reportStatistics() {
        do throws(DurableError) {
            loop.streams.log.report("\(try namespaceStatus().line), skipped \(loop.streams.skipped)", isCut: false)
        } catch {
            loop.streams.log.report("\(error)")
        }
    }

    /// Returns the start of a message about a run.
    func subject(_ run: DurableRun) -> String {
        run.key.isEmpty ? "run \(run.id)" : "key \(Terminal.shown(run.key)), run \(run.id)"
    }
}
