internal import LullCore

/// One line of a trace: `{"at":12.5,"key":"lamp","value":7}`, with optional `"op"` and `"wait"`.
struct TraceLine {
    /// The call that the line records.
    enum Operation {
        case submit
        case flush
        case cancel
        case touch
    }

    /// The reason why a line is no call.
    enum Fault: Error, Equatable {
        case noJSON(JSONScanner.Fault)
        case noTime
        case wrongTime(String)
        case timeOutOfRange(String)
        case wrongOperation(String)
        case wrongWait(String, DurationText.Fault?)
    }

    private(set) var at = CoreInstant.origin
    private(set) var operation = Operation.submit
    /// The JSON text of the key; nil for none and for `null`, which are equal.
    private(set) var key: ByteSlice?
    /// The JSON text of the value, unchanged.
    private(set) var value: ByteSlice?
    /// The delay of this call alone.
    private(set) var wait: CoreDuration?

    init(_ line: ByteSlice) throws(Fault) {
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
                switch Self.member(line.part(name.content), name.hasEscapes) {
                case .at: at = member
                case .key: key = isNull ? nil : member
                case .value: value = member
                case .operation: operation = isNull ? nil : member
                case .wait: wait = isNull ? nil : member
                case .unknown: break
                }
            }
            try scanner.end()
        } catch {
            throw .noJSON(error)
        }
        guard let at else { throw .noTime }
        self.at = try Self.instant(at)
        if let operation { self.operation = try Self.operation(operation) }
        if let wait { self.wait = try Self.wait(wait) }
    }

    private enum Member {
        case at, key, value, operation, wait, unknown
    }

    private static func member(_ name: ByteSlice, _ hasEscapes: Bool) -> Member {
        if hasEscapes {
            let content = JSONText.content(name)
            return content.withUnsafeBufferPointer { member($0, false) }
        }
        switch name.count {
        case 2: return name.isEqual(to: "at") ? .at : name.isEqual(to: "op") ? .operation : .unknown
        case 3: return name.isEqual(to: "key") ? .key : .unknown
        case 4: return name.isEqual(to: "wait") ? .wait : .unknown
        case 5: return name.isEqual(to: "value") ? .value : .unknown
        default: return .unknown
        }
    }

    private static func instant(_ text: ByteSlice) throws(Fault) -> CoreInstant {
        let instant = try anyInstant(text)
        // The last one means "never".
        if instant == .farFuture { throw .timeOutOfRange(shown(text)) }
        return instant
    }

    private static func anyInstant(_ text: ByteSlice) throws(Fault) -> CoreInstant {
        switch text[0] {
        case UInt8(ascii: "\""):
            // No valid time is written with escapes.
            do throws(Timestamp.Fault) {
                return try Timestamp.parse(text.part(1..<text.count - 1))
            } catch {
                throw error == .outOfRange ? .timeOutOfRange(shown(text)) : .wrongTime(shown(text))
            }
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            guard let instant = DecimalSeconds.parse(text) else { throw .timeOutOfRange(shown(text)) }
            return instant
        default: throw .wrongTime(shown(text))
        }
    }

    private static func operation(_ text: ByteSlice) throws(Fault) -> Operation {
        switch content(text) {
        case "submit": return .submit
        case "flush": return .flush
        case "cancel": return .cancel
        case "touch": return .touch
        default: throw .wrongOperation(shown(text))
        }
    }

    private static func wait(_ text: ByteSlice) throws(Fault) -> CoreDuration {
        guard let content = content(text) else { throw .wrongWait(shown(text), nil) }
        do throws(DurationText.Fault) {
            return try DurationText.parse(content)
        } catch {
            throw .wrongWait(content, error)
        }
    }

    /// Returns the content of a JSON string; nil for any other value.
    private static func content(_ text: ByteSlice) -> String? {
        guard text.first == UInt8(ascii: "\"") else { return nil }
        return String(decoding: JSONText.content(text.part(1..<text.count - 1)), as: UTF8.self)
    }

    /// Returns a part of the line for a message, cut to a readable length.
    private static func shown(_ text: ByteSlice) -> String {
        let limit = 60
        return String(decoding: text.prefix(limit), as: UTF8.self) + (text.count > limit ? "…" : "")
    }
}

extension TraceLine.Fault: CustomStringConvertible {
    /// The fault, for a message.
    var description: String {
        switch self {
        case .noJSON(let fault): "not a JSON object: \(fault)"
        case .noTime: "\"at\" is missing"
        case .wrongTime(let text): "\"at\" must be a number of seconds or an RFC 3339 time, not \(text)"
        case .timeOutOfRange(let text): "\"at\" is more than 292 years away from its origin: \(text)"
        case .wrongOperation(let text): "\"op\" must be \"submit\", \"touch\", \"flush\" or \"cancel\", not \(text)"
        case .wrongWait(let text, nil): "\"wait\" must be a string such as \"500ms\", not \(text)"
        case .wrongWait(let text, let fault?): "\"wait\": \"\(text)\" \(fault.explanation(of: text))"
        }
    }
}
