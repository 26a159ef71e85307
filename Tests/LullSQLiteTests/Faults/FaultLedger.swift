import LullDurable

/// The knowledge of a client from the store's answers alone: the answer to every submit, and the runs with its value.
struct FaultLedger {
    enum Answer {
        case accepted, refused, unknown
    }

    /// A submit, identified by its value, which no other has.
    struct Submit {
        var key: String
        var token: String?
        var answer: Answer
        var receipt: DurableReceipt?
        /// The runs with its value.
        var runs: Set<Int64> = []
        /// Whether it was cancelled before a run was claimed with it; nil if that is unknown.
        var isCancelled: Bool? = false
    }

    private(set) var submits: [Int: Submit] = [:]
    /// The runs whose completion was accepted.
    private var completed: Set<Int64> = []
    /// The runs whose completion may have been accepted.
    private var perhapsCompleted: Set<Int64> = []
    /// Whether a run may have been claimed without the client knowing.
    private var hasLostClaim = false
    /// The first violation.
    private(set) var finding: String?

    mutating func fail(_ what: String?) { finding = finding ?? what }

    /// Returns what an error means. No error may say that the file is damaged.
    mutating func note(_ error: DurableError) -> Answer {
        switch error {
        case .refused, .full: return .refused
        case .unknown: return .unknown
        default:
            fail("an unexpected error: \(error)")
            return .refused
        }
    }

    mutating func submit(_ value: Int, _ key: String, token: String?, _ result: Result<DurableReceipt, DurableError>) {
        var submit = submits[value] ?? Submit(key: key, token: token, answer: .refused)
        switch result {
        case .success(let receipt):
            submit.answer = .accepted
            submit.receipt = receipt
        case .failure(let error):
            // A repeated submit may have been recorded the first time, whatever the second answer is.
            let answer = note(error)
            if submit.answer != .unknown { submit.answer = answer }
        }
        submits[value] = submit
    }

    /// The submits with an unknown answer that can be repeated.
    var unknown: [Int] { submits.filter { $0.value.answer == .unknown && $0.value.token != nil }.map(\.key).sorted() }

    mutating func loseClaim() { hasLostClaim = true }

    mutating func handOut(_ run: DurableRun) {
        if completed.contains(run.number) { fail("run \(run.id) was completed, and is handed out again") }
        let values = run.values.map { Int(text($0)) ?? -1 }
        if Set(values).count != values.count { fail("run \(run.id) has a submit twice: \(values)") }
        for value in values {
            guard var submit = submits[value] else { return fail("run \(run.id) has \(value), not a submit") }
            if submit.answer == .refused { fail("\(value) was refused, and is handed out") }
            if submit.isCancelled == true { fail("\(value) was cancelled, and is handed out") }
            submit.runs.insert(run.number)
            if submit.runs.count > 1 { fail("\(value) is in the runs \(submit.runs.sorted())") }
            submits[value] = submit
        }
    }

    mutating func complete(_ run: DurableRun) { completed.insert(run.number) }

    mutating func mayHaveCompleted(_ run: DurableRun) { perhapsCompleted.insert(run.number) }

    /// Records that a key was cancelled, or may have been.
    mutating func cancel(_ key: String, isCertain: Bool) {
        for (value, submit) in submits where submit.key == key && submit.isCancelled != true {
            // A run that waits for another attempt is cancelled, too.
            submits[value]?.isCancelled = isCertain && submit.runs.isEmpty && !hasLostClaim ? true : nil
        }
    }

    /// Records that a submit is repeated: after its key was cancelled, it may be new to the store.
    mutating func repeats(_ value: Int) {
        if submits[value]?.isCancelled == true { submits[value]?.isCancelled = nil }
    }

    /// Checks, after all work is done, that every accepted submit was executed.
    mutating func close() {
        for (value, submit) in submits.sorted(by: { $0.key < $1.key })
        where submit.answer == .accepted && submit.isCancelled == false {
            if submit.runs.isEmpty { fail("lost: \(value) was accepted, and never handed out") }
            for run in submit.runs.subtracting(completed).subtracting(perhapsCompleted) {
                fail("run \(run) of \(value) was never completed")
            }
        }
    }
}
