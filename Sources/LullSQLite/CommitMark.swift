internal import LullDurable

/// What shows that a transaction is in the file, where its commit has failed: something that no other can have written.
enum CommitMark: Equatable {
    /// The number that it has drawn.
    case number(Int64)
    /// The number of the submits of a row, which it has raised. Most transactions write such a row anyway.
    case submit(row: Int64, generation: Int64)
}

extension Connection {
    /// Whether the transaction with this mark was the latest to be committed. No other transaction may have been committed since.
    func has(_ mark: CommitMark) throws(DurableError) -> Bool {
        switch mark {
        case .number(let number):
            try self.number("SELECT count(*) FROM meta WHERE last_commit = \(number)") == 1
        case .submit(let row, let generation):
            try number("SELECT count(*) FROM work WHERE id = \(row) AND generation = \(generation)") == 1
        }
    }
}
