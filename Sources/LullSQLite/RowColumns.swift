internal import LullCore
internal import LullDurable

// The parts of a row, which are columns of `work`, each named once: reading, writing and changing a row follow from
// that. A part more is a line more, and a migration that adds its column. Values and the text of an error are apart.

/// Reads, writes or lists the parts of a row, in the order of their columns.
protocol RowCoder {
    associatedtype Failure: Error

    /// A number. The largest and the smallest one, if they are its usual values, are NULL in the file.
    mutating func number(
        _ name: StaticString, _ number: inout Int64, in range: ClosedRange<Int64>, usually usual: Int64?
    ) throws(Failure)
    /// A number that may be missing.
    mutating func optional(_ name: StaticString, _ number: inout Int64?) throws(Failure)
    /// One of a few words.
    mutating func word<Word: RowWord>(_ name: StaticString, _ word: inout Word) throws(Failure)
    /// Begins a group, and returns whether it is there. If so, its parts and ``end()`` follow; if not, all its columns
    /// are NULL.
    mutating func begin(_ group: Change.Groups, if isThere: Bool) -> Bool
    mutating func end()
    /// What must hold for the parts that have been read.
    func require(_ condition: Bool, _ rule: StaticString) throws(Failure)
}

/// A word for each case of an enumeration.
protocol RowWord: Equatable {
    static var all: [Self] { get }
    var name: StaticString { get }
}

extension DurableRow {
    /// Names the parts of the row.
    mutating func code<Coder: RowCoder>(with coder: inout Coder) throws(Coder.Failure) {
        try coder.counter("born", &born)
        try coder.counter("generation", &generation)
        try coder.counter("taken", &taken)
        try coder.word("phase", &gate.phase)
        try coder.instant("quiet", &gate.quiet)
        try coder.instant("latest", &gate.latest, usually: .farPast)
        try coder.duration("span", &span, usually: .infinite)
        try coder.duration("spacing", &spacing, usually: .zero)
        if coder.begin(.pending, if: pending != nil) {
            var pending = pending ?? Pending(batch: Batch(.stored(.pending)), last: .origin)
            try coder.counter("count", &gate.count)
            try coder.instant("first", &gate.first)
            try coder.instant("last", &pending.last, unless: gate.first)
            var submitter = pending.submitter.number
            try coder.optional("by", &submitter)
            pending.submitter = Submitter(submitter)
            self.pending = pending
            coder.end()
        }
        if coder.begin(.ready, if: ready != nil) {
            var ready = ready ?? Ready(storedIn: .ready)
            try ready.code(with: &coder)
            self.ready = ready
            coder.end()
        }
        if coder.begin(.run, if: run != nil) {
            var run = run ?? Run(value: Ready(storedIn: .run))
            try run.code(with: &coder)
            self.run = run
            coder.end()
        }
    }
}

extension DurableRow.Ready {
    /// Creates the value of which the parts are still to be read.
    init(storedIn slot: DurablePayload.Slot) {
        self.init(
            batch: Batch(.stored(slot)), submits: 0...0, count: 0, first: .origin, due: .origin, edge: .trailing)
    }

    mutating func code<Coder: RowCoder>(with coder: inout Coder) throws(Coder.Failure) {
        var (from, to) = (submits.lowerBound, submits.upperBound)
        try coder.counter("from", &from)
        try coder.counter("to", &to)
        try coder.require(from <= to, "a range of submits that ends before it begins")
        submits = from...to
        try coder.counter("count", &count)
        try coder.instant("first", &first)
        try coder.instant("due", &due)
        try coder.word("edge", &edge)
        var since = since?.nanoseconds
        try coder.optional("since", &since)
        self.since = since.map(CoreInstant.init(nanoseconds:))
    }
}

extension DurableRow.Run {
    /// Creates the run of which the parts are still to be read.
    init(value: DurableRow.Ready) {
        self.init(value: value, id: 0, fence: 0, owner: 0, attempt: 0, state: .backoff(until: .origin))
    }

    mutating func code<Coder: RowCoder>(with coder: inout Coder) throws(Coder.Failure) {
        try coder.counter("id", &id)
        try coder.counter("fence", &fence)
        try coder.number("owner", &owner)
        try coder.counter("attempt", &attempt)
        var (kind, until) = (isInBackoff ? RunState.backoff : .claimed, state.end)
        try coder.word("state", &kind)
        try coder.instant("until", &until)
        state = kind == .claimed ? .claimed(until: until) : .backoff(until: until)
        try value.code(with: &coder)
        var mark = mark?.nanoseconds
        try coder.optional("mark", &mark)
        self.mark = mark.map(CoreInstant.init(nanoseconds:))
        var began = began?.nanoseconds
        try coder.optional("began", &began)
        self.began = began.map(CoreInstant.init(nanoseconds:))
    }

    private enum RunState: RowWord {
        case claimed, backoff

        static let all: [Self] = [.claimed, .backoff]

        var name: StaticString { self == .claimed ? "claimed" : "backoff" }
    }
}

extension RowCoder {
    mutating func number(_ name: StaticString, _ number: inout Int64) throws(Failure) {
        try self.number(name, &number, in: .min ... .max, usually: nil)
    }

    /// A number from 0 on that can still be incremented.
    mutating func counter(_ name: StaticString, _ number: inout Int64) throws(Failure) {
        try self.number(name, &number, in: 0...1 << 62, usually: nil)
    }

    mutating func counter(_ name: StaticString, _ number: inout Int) throws(Failure) {
        var wide = Int64(number)
        try counter(name, &wide)
        number = Int(wide)
    }

    mutating func instant(
        _ name: StaticString, _ instant: inout CoreInstant, usually usual: CoreInstant? = nil
    ) throws(Failure) {
        var nanoseconds = instant.nanoseconds
        try number(name, &nanoseconds, in: .min ... .max, usually: usual?.nanoseconds)
        instant = CoreInstant(nanoseconds: nanoseconds)
    }

    /// An instant that is missing if it is another one.
    mutating func instant(
        _ name: StaticString, _ instant: inout CoreInstant, unless other: CoreInstant
    ) throws(Failure) {
        var nanoseconds = instant == other ? nil : instant.nanoseconds
        try optional(name, &nanoseconds)
        instant = nanoseconds.map(CoreInstant.init(nanoseconds:)) ?? other
    }

    mutating func duration(
        _ name: StaticString, _ duration: inout CoreDuration, usually usual: CoreDuration
    ) throws(Failure) {
        var nanoseconds = duration.nanoseconds
        try number(name, &nanoseconds, in: 0 ... .max, usually: usual.nanoseconds)
        duration = CoreDuration(nanoseconds: nanoseconds)
    }
}

extension Gate.Phase: RowWord {
    static let all: [Self] = [.idle, .resting, .open, .full]

    /// The name, as the file has it.
    var name: StaticString {
        switch self {
        case .idle: "idle"
        case .resting: "resting"
        case .open: "open"
        case .full: "full"
        }
    }
}

extension Edge: RowWord {
    static let all: [Self] = [.leading, .trailing, .maxWait, .maxCount, .flush]
}

// MARK: - The ways of coding

/// A column for a part of a row.
struct RowColumn: Sendable {
    let name: String
    let group: Change.Groups

    /// The columns of a row, in their order.
    static let all = {
        var (lister, row) = (RowLister(), DurableRow(base: 0))
        row.code(with: &lister)
        return lister.columns
    }()
    /// Those that are read first, and alone if nothing is ready and there is no run.
    static let ofPending = all.filter { $0.group == .row || $0.group == .pending }
    /// Those of a dead run.
    static let ofRun = all.filter { $0.group == .run }
}

/// Lists the columns.
private struct RowLister: RowCoder {
    fileprivate var columns: [RowColumn] = []
    private var group = Change.Groups.row

    mutating func number(
        _ name: StaticString, _ number: inout Int64, in range: ClosedRange<Int64>, usually usual: Int64?
    ) { add(name) }

    mutating func optional(_ name: StaticString, _ number: inout Int64?) { add(name) }

    mutating func word<Word: RowWord>(_ name: StaticString, _ word: inout Word) { add(name) }

    mutating func begin(_ group: Change.Groups, if isThere: Bool) -> Bool {
        self.group = group
        return true
    }

    mutating func end() { group = .row }

    func require(_ condition: Bool, _ rule: StaticString) {}

    private mutating func add(_ name: StaticString) {
        columns.append(RowColumn(name: group.prefix + "\(name)", group: group))
    }
}

/// Binds the parts of a row, of some groups.
struct RowBinder: RowCoder {
    let statement: Statement
    let groups: Change.Groups
    private var parameter = WorkColumn.firstOfRow
    private var group = Change.Groups.row

    init(_ statement: Statement, _ groups: Change.Groups) {
        self.statement = statement
        self.groups = groups
    }

    mutating func number(
        _ name: StaticString, _ number: inout Int64, in range: ClosedRange<Int64>, usually usual: Int64?
    ) {
        let isUsualLimit = number == usual && (number == .max || number == .min)
        bind(isUsualLimit ? nil : number)
    }

    mutating func optional(_ name: StaticString, _ number: inout Int64?) { bind(number) }

    mutating func word<Word: RowWord>(_ name: StaticString, _ word: inout Word) {
        if groups.contains(group) { statement.bind(parameter, text: word.name) }
        parameter += 1
    }

    mutating func begin(_ group: Change.Groups, if isThere: Bool) -> Bool {
        self.group = group
        if !isThere {
            for _ in 0..<group.columnCount { bind(nil) }
            self.group = .row
        }
        return isThere
    }

    mutating func end() { group = .row }

    func require(_ condition: Bool, _ rule: StaticString) {}

    private mutating func bind(_ number: Int64?) {
        if groups.contains(group) { statement.bind(parameter, number) }
        parameter += 1
    }
}

/// Reads the parts of a row.
struct RowReader: RowCoder {
    typealias Failure = DurableError

    let statement: Statement
    private var column: Int
    /// The column at which the ones that were read end.
    private let limit: Int

    init(_ statement: Statement, from column: Int, count: Int) {
        self.statement = statement
        self.column = column
        limit = column + count
    }

    mutating func number(
        _ name: StaticString, _ number: inout Int64, in range: ClosedRange<Int64>, usually usual: Int64?
    ) throws(DurableError) {
        if let usual, statement.isNull(column) { number = usual } else { number = statement.integer(column) }
        guard range.contains(number) else { throw statement.connection.damage("the number \(number)") }
        column += 1
    }

    mutating func optional(_ name: StaticString, _ number: inout Int64?) {
        number = statement.integerOrNull(column)
        column += 1
    }

    mutating func word<Word: RowWord>(_ name: StaticString, _ word: inout Word) throws(DurableError) {
        guard let found = Word.all.first(where: { statement.has($0.name, in: column) }) else {
            throw statement.connection.damage("the \(name) '\(statement.text(column))'")
        }
        word = found
        column += 1
    }

    mutating func begin(_ group: Change.Groups, if isThere: Bool) -> Bool {
        if column >= limit { return false }
        if !statement.isNull(column) { return true }
        column += group.columnCount
        return false
    }

    mutating func end() {}

    func require(_ condition: Bool, _ rule: StaticString) throws(DurableError) {
        if !condition { throw statement.connection.damage("\(rule)") }
    }
}
