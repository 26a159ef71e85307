internal import LullCore

/// What a program says of its debouncers and throttlers: a line of JSON from `LullInspection`.
struct ProgramSnapshot {
    /// A debouncer or throttler.
    struct Row {
        let id: Int64
        let place: String
        let kind: String
        let policy: String
        let keys: Int64
        let pending: Int64
        /// Those of them that are due and wait to start.
        let waiting: Int64
        let dueIn: Int64?
        let running: Int64
        let started: Int64
        let submitted: Int64
        let outcomes: Outcomes
    }

    /// What has become of submits, each counted once but for those that were restarted.
    struct Outcomes {
        var executed: Int64 = 0
        var superseded: Int64 = 0
        var absorbed: Int64 = 0
        var cancelled: Int64 = 0
        var rejected: Int64 = 0
        var failed: Int64 = 0
        var restarted: Int64 = 0
        /// Executions that went on after their time limit.
        var overdue: Int64 = 0
    }

    /// Why a line is no snapshot.
    enum Fault: Error {
        /// It comes from another program.
        case foreign
        /// It has a version that this command does not know.
        case newer
        /// The program refuses, and says why.
        case refused(String)
    }

    let process: Int64
    let name: String
    /// Nanoseconds on the program's clock.
    let time: Int64
    /// The number of debouncers that the line leaves out.
    let left: Int64
    let rows: [Row]

    init(process: Int64, name: String, time: Int64, left: Int64, rows: [Row]) {
        self.process = process
        self.name = name
        self.time = time
        self.left = left
        self.rows = rows
    }

    init(_ line: [UInt8]) throws(Fault) {
        let result: Result<ProgramSnapshot, Fault> = line.withUnsafeBufferPointer { line in
            do throws(Fault) { return .success(try ProgramSnapshot(parsing: line)) } catch { return .failure(error) }
        }
        self = try result.get()
    }

    private init(parsing line: ByteSlice) throws(Fault) {
        let all = try Members(line)
        guard try all.number("lull") == 1 else { throw .newer }
        if let reason = all.text("refused") { throw .refused(reason) }
        process = try all.number("process")
        name = all.text("name") ?? ""
        guard let time = try all.seconds("time") else { throw .foreign }
        self.time = time
        left = try all.number("left")
        rows = try all.elements("debouncers").map { value throws(Fault) in
            let members = try Members(value)
            guard let place = members.text("where"), let kind = members.text("kind"),
                let policy = members.text("policy")
            else { throw .foreign }
            return Row(
                id: try members.number("id"), place: place, kind: kind, policy: policy,
                keys: try members.number("keys"), pending: try members.number("pending"),
                waiting: try members.number("waiting"), dueIn: try members.seconds("dueIn"),
                running: try members.number("running"), started: try members.number("started"),
                submitted: try members.number("submitted"), outcomes: try members.outcomes())
        }
    }
}

/// The members of a JSON object that another program has sent.
private struct Members {
    private var values: [String: ByteSlice] = [:]

    init(_ text: ByteSlice) throws(ProgramSnapshot.Fault) {
        do throws(JSONScanner.Fault) {
            var scanner = JSONScanner(text)
            try scanner.open("{", orThrow: .expectedObject)
            var isFirst = true
            while let name = try scanner.nextMember(&isFirst) {
                let key = String(decoding: text.part(name.content), as: UTF8.self)
                values[key] = text.part(try scanner.value())
            }
            try scanner.end()
        } catch {
            throw .foreign
        }
    }

    /// A whole number, zero or more, and small enough for sums of thousands.
    func number(_ name: String) throws(ProgramSnapshot.Fault) -> Int64 {
        guard let value = values[name], let number = Int64(String(decoding: value, as: UTF8.self)),
            (0..<1 << 53).contains(number)
        else { throw .foreign }
        return number
    }

    /// Seconds as nanoseconds; nil for null.
    func seconds(_ name: String) throws(ProgramSnapshot.Fault) -> Int64? {
        guard let value = values[name] else { throw .foreign }
        if value.isEqual(to: "null") { return nil }
        guard let time = DecimalSeconds.parse(value), time.nanoseconds >= 0 else { throw .foreign }
        return time.nanoseconds
    }

    func outcomes() throws(ProgramSnapshot.Fault) -> ProgramSnapshot.Outcomes {
        ProgramSnapshot.Outcomes(
            executed: try number("executed"), superseded: try number("superseded"), absorbed: try number("absorbed"),
            cancelled: try number("cancelled"), rejected: try number("rejected"), failed: try number("failed"),
            restarted: try number("restarted"), overdue: try number("overdue"))
    }

    func text(_ name: String) -> String? { values[name].flatMap { JSONText.string($0) } }

    func elements(_ name: String) throws(ProgramSnapshot.Fault) -> [ByteSlice] {
        guard let value = values[name] else { throw .foreign }
        do throws(JSONScanner.Fault) {
            var scanner = JSONScanner(value)
            try scanner.open("[", orThrow: .expectedValue)
            var isFirst = true
            var elements: [ByteSlice] = []
            while try scanner.nextElement(&isFirst) { elements.append(value.part(try scanner.value())) }
            return elements
        } catch {
            throw .foreign
        }
    }
}
