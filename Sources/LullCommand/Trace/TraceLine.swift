internal import LullCore

/// One line of a trace: `{"at":12.5,"key":"lamp","value":7}`, with optional `"op"` and `"wait"`.
struct TraceLine {
    enum Operation: String {
        case submit
        case flush
        case cancel
        case touch
    }

    private(set) var at = CoreInstant.origin
    private(set) var operation = Operation.submit
    /// The JSON text of the key; nil for none and for `null`, which are equal.
    private(set) var key: ByteSlice?
    /// The JSON text of the value, unchanged.
    private(set) var value: ByteSlice?
    /// The delay of this call alone.
    private(set) var wait: CoreDuration?

    init(_ line: ByteSlice) throws(Refusal) {
        var at: ByteSlice?
        var operation: ByteSlice?
        var wait: ByteSlice?
        do throws(JSONScanner.Fault) {
            var scanner = JSONScanner(line)
            try scanner.open("{", orThrow: .expectedObject)
            var isFirst = true
            while let name = try scanner.nextMember(&isFirst) {
                let member = line.part(try scanner.value())
                // No other JSON value starts with this letter.
                let isNull = member[0] == UInt8(ascii: "n")
                func set(_ name: ByteSlice) {
                    if name.isEqual(to: "at") {
                        at = member
                    } else if name.isEqual(to: "key") {
                        key = isNull ? nil : member
                    } else if name.isEqual(to: "value") {
                        value = member
                    } else if name.isEqual(to: "op") {
                        operation = isNull ? nil : member
                    } else if name.isEqual(to: "wait") {
                        wait = isNull ? nil : member
                    }
                }
                let content = line.part(name.content)
                if name.hasEscapes { JSONText.content(content).withUnsafeBufferPointer(set) } else { set(content) }
            }
            try scanner.end()
        } catch {
            throw Refusal(reason: "not a JSON object: \(error)")
        }
        guard let at else { throw Refusal(reason: "\"at\" is missing") }
        self.at = try Self.instant(at)
        if let operation { self.operation = try Self.operation(operation) }
        if let wait { self.wait = try Self.wait(wait) }
    }

    private static func instant(_ text: ByteSlice) throws(Refusal) -> CoreInstant {
        var instant: CoreInstant?
        switch text[0] {
        case UInt8(ascii: "\""):
            // No valid time is written with escapes.
            do throws(Timestamp.Fault) {
                instant = try Timestamp.parse(text.part(1..<text.count - 1))
            } catch {
                if error == .noTime { throw wrongTime(text) }
            }
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): instant = DecimalSeconds.parse(text)
        default: throw wrongTime(text)
        }
        // The last one means "never".
        if let instant, instant != .farFuture { return instant }
        throw Refusal(reason: "\"at\" is more than 292 years away from its origin: \(text.shown)")
    }

    private static func wrongTime(_ text: ByteSlice) -> Refusal {
        Refusal(reason: "\"at\" must be a number of seconds or an RFC 3339 time, not \(text.shown)")
    }

    private static func operation(_ text: ByteSlice) throws(Refusal) -> Operation {
        if let operation = JSONText.string(text).flatMap(Operation.init) { return operation }
        throw Refusal(reason: "\"op\" must be \"submit\", \"touch\", \"flush\" or \"cancel\", not \(text.shown)")
    }

    private static func wait(_ text: ByteSlice) throws(Refusal) -> CoreDuration {
        guard let content = JSONText.string(text) else {
            throw Refusal(reason: "\"wait\" must be a string such as \"500ms\", not \(text.shown)")
        }
        do throws(Refusal) {
            return try DurationText.read(content)
        } catch {
            throw Refusal(reason: "\"wait\": \(error.reason)")
        }
    }
}
