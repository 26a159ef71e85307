package import LullCore

// The parts of a row, each named once: reading and writing a row follow from that, in every store. A part more is a
// line more, a new version of the bytes of a row, and a migration of a file that adds its column. Values and the text
// of an error are apart.

/// Reads, writes or lists the parts of a row, in their order.
package protocol RowCoder {
    associatedtype Failure: Error

    /// A number, with the one that it is mostly. The largest and the smallest one, if they are that, are NULL in a
    /// file.
    mutating func number(
        _ name: StaticString, _ number: inout Int64, in range: ClosedRange<Int64>, usually usual: Int64?
    ) throws(Failure)
    /// A number that may be missing.
    mutating func optional(_ name: StaticString, _ number: inout Int64?) throws(Failure)
    /// One of a few words.
    mutating func word<Word: RowWord>(_ name: StaticString, _ word: inout Word) throws(Failure)
    /// Begins the parts of a value, and returns whether it is there. If so, its parts and ``end()`` follow.
    mutating func begin(_ slot: DurablePayload.Slot, if isThere: Bool) throws(Failure) -> Bool
    mutating func end()
    /// What must hold for the parts that have been read.
    func require(_ condition: Bool, _ rule: StaticString) throws(Failure)
}

/// A word for each case of an enumeration.
package protocol RowWord: Equatable {
    static var all: [Self] { get }
    var name: StaticString { get }
}

extension DurableRow {
    /// Names the parts of the row.
    package mutating func code<Coder: RowCoder>(with coder: inout Coder) throws(Coder.Failure) {
        try coder.counter("born", &born)
        try coder.counter("generation", &generation)
        try coder.counter("taken", &taken)
        try coder.word("phase", &gate.phase)
        try coder.instant("quiet", &gate.quiet)
        try coder.instant("latest", &gate.latest, usually: .farPast)
        try coder.duration("span", &span, usually: .infinite)
        try coder.duration("spacing", &spacing, usually: .zero)
        if try coder.begin(.pending, if: pending != nil) {
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
        if try coder.begin(.ready, if: ready != nil) {
            var ready = ready ?? Ready(storedIn: .ready)
            try ready.code(with: &coder)
            self.ready = ready
            coder.end()
        }
        if try coder.begin(.run, if: run != nil) {
            var run = run ?? Run(value: Ready(storedIn: .run))
            try run.code(with: &coder)
            self.run = run
            coder.end()
        }
    }
}

extension DurableRow.Ready {
    /// Creates the value of which the parts are still to be read.
    package init(storedIn slot: DurablePayload.Slot) {
        self.init(
            batch: Batch(.stored(slot)), submits: 0...0, count: 0, first: .origin, due: .origin, cause: .trailing)
    }

    package mutating func code<Coder: RowCoder>(with coder: inout Coder) throws(Coder.Failure) {
        try coder.submits(&submits)
        try coder.counter("count", &count)
        try coder.instant("first", &first)
        try coder.instant("due", &due)
        try coder.word("edge", &cause)
        var since = since?.nanoseconds
        try coder.optional("since", &since)
        self.since = since.map(CoreInstant.init(nanoseconds:))
    }
}

extension DurableRow.Run {
    /// Creates the run of which the parts are still to be read.
    package init(value: DurableRow.Ready) {
        self.init(value: value, id: 0, fence: 0, owner: 0, attempt: 0, state: .backoff(until: .origin))
    }

    package mutating func code<Coder: RowCoder>(with coder: inout Coder) throws(Coder.Failure) {
        try coder.counter("id", &id)
        try coder.counter("fence", &fence)
        try coder.number("owner", &owner)
        try coder.counter("attempt", &attempt)
        var wide = Int64(snoozes)
        try coder.number("snoozes", &wide, in: 0...1 << 62, usually: 0)
        snoozes = Int(wide)
        var (kind, until) = (StateWord(state), state.end)
        try coder.word("state", &kind)
        try coder.instant("until", &until)
        state =
            switch kind {
            case .claimed: .claimed(until: until)
            case .backoff: .backoff(until: until)
            case .snoozed: .snoozed(until: until)
            }
        try value.code(with: &coder)
        var mark = mark?.nanoseconds
        try coder.optional("mark", &mark)
        self.mark = mark.map(CoreInstant.init(nanoseconds:))
        var began = began?.nanoseconds
        try coder.optional("began", &began)
        self.began = began.map(CoreInstant.init(nanoseconds:))
    }

    private enum StateWord: RowWord {
        case claimed, backoff, snoozed

        static let all: [Self] = [.claimed, .backoff, .snoozed]

        init(_ state: DurableRow.Run.State) {
            self =
                switch state {
                case .claimed: .claimed
                case .backoff: .backoff
                case .snoozed: .snoozed
                }
        }

        var name: StaticString {
            switch self {
            case .claimed: "claimed"
            case .backoff: "backoff"
            case .snoozed: "snoozed"
            }
        }
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

    mutating func submits(_ submits: inout ClosedRange<Int64>) throws(Failure) {
        var (from, to) = (submits.lowerBound, submits.upperBound)
        try counter("from", &from)
        try counter("to", &to)
        try require(from <= to, "a range of submits that ends before it begins")
        submits = from...to
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
    package static let all: [Self] = [.idle, .resting, .open, .full]

    /// The name, as a file has it.
    package var name: StaticString {
        switch self {
        case .idle: "idle"
        case .resting: "resting"
        case .open: "open"
        case .full: "full"
        }
    }
}

extension Cause: RowWord {
    package static let all: [Self] = [.leading, .trailing, .maxWait, .maxCount, .flush]
}
