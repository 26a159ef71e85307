package import LullCore

/// What a store has of submits that have ended.
package struct StoredEnd: Hashable, Sendable {
    package var submits: ClosedRange<Int64>
    package var how: EndKind
    package var at: CoreInstant
    package var run: Int64?
    package var error: [UInt8]?

    package init(_ ended: EndedSubmits, at: CoreInstant) {
        (submits, how, self.at) = (ended.submits, ended.how, at)
        (run, error) = (ended.run?.id, ended.run?.error)
    }

    package init(submits: ClosedRange<Int64>, how: EndKind, at: CoreInstant, run: Int64?, error: [UInt8]?) {
        (self.submits, self.how, self.at, self.run, self.error) = (submits, how, at, run, error)
    }

    package var errorText: String? { error.map { String(decoding: $0, as: UTF8.self) } }

    package var bytes: [UInt8] {
        var (writer, copy) = (RowBytesWriter(), self)
        writer.byte(StoredRow.version)
        copy.code(with: &writer)
        writer.bytes(error)
        return writer.result
    }

    package init(_ bytes: [UInt8]) throws(DurableError) {
        var reader = RowBytesReader(bytes)
        try reader.version(StoredRow.version)
        (submits, how, at) = (0...0, .completed, .origin)
        try code(with: &reader)
        error = try reader.bytes()
    }

    private mutating func code<Coder: RowCoder>(with coder: inout Coder) throws(Coder.Failure) {
        try coder.submits(&submits)
        try coder.word("how", &how)
        try coder.instant("at", &at)
        try coder.optional("run", &run)
    }
}

extension [(key: [UInt8], end: StoredEnd)] {
    /// Returns the newest ones, as they are listed.
    func newest(_ limit: Int, at now: CoreInstant) -> [DurableEnd<[UInt8]>] {
        sorted { ($0.end.at, $0.end.submits.upperBound) > ($1.end.at, $1.end.submits.upperBound) }
            .prefix(Swift.max(0, limit)).map { key, end in
                DurableEnd(
                    key: key, submits: end.submits, how: end.how, run: end.run, error: end.errorText,
                    age: DurableNamespace.time(from: end.at, to: now))
            }
    }
}

extension EndKind: RowWord {
    package static let all: [Self] = [.completed, .failed, .cancelled, .absorbed, .dead]
}
