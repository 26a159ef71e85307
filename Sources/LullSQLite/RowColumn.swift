internal import LullCore
internal import LullDurable

// The parts of a row (`DurableRow.code(with:)`) as columns of `work`.

/// A column for a part of a row.
struct RowColumn: Sendable {
    let name: String
    let group: RowUpdate.Groups

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

extension RowUpdate.Groups {
    init(_ slot: DurablePayload.Slot) {
        switch slot {
        case .pending: self = .pending
        case .ready: self = .ready
        case .run: self = .run
        }
    }
}

/// Lists the columns.
private struct RowLister: RowCoder {
    fileprivate var columns: [RowColumn] = []
    private var group = RowUpdate.Groups.row

    mutating func number(
        _ name: StaticString, _ number: inout Int64, in range: ClosedRange<Int64>, usually usual: Int64?
    ) { add(name) }

    mutating func optional(_ name: StaticString, _ number: inout Int64?) { add(name) }

    mutating func word<Word: RowWord>(_ name: StaticString, _ word: inout Word) { add(name) }

    mutating func begin(_ slot: DurablePayload.Slot, if isThere: Bool) -> Bool {
        group = RowUpdate.Groups(slot)
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
    let groups: RowUpdate.Groups
    private var parameter = WorkColumn.firstOfRow
    private var group = RowUpdate.Groups.row

    init(_ statement: Statement, _ groups: RowUpdate.Groups) {
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

    mutating func begin(_ slot: DurablePayload.Slot, if isThere: Bool) -> Bool {
        group = RowUpdate.Groups(slot)
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

    mutating func begin(_ slot: DurablePayload.Slot, if isThere: Bool) -> Bool {
        if column >= limit { return false }
        if !statement.isNull(column) { return true }
        column += RowUpdate.Groups(slot).columnCount
        return false
    }

    mutating func end() {}

    func require(_ condition: Bool, _ rule: StaticString) throws(DurableError) {
        if !condition { throw statement.connection.damage("\(rule)") }
    }
}
