internal import LullCore

/// How to find the delay of a record: a duration such as `500ms`, which is a string in a JSON record.
struct RecordDelayRule {
    let part: RecordPart

    /// Why a record has no delay.
    enum Fault: Error {
        case missing(RecordPart.Fault)
        case noString(String)
        case noDuration(String, DurationText.Fault)
    }

    /// Returns the delay of a record.
    func delay(of record: ByteSlice) throws(Fault) -> CoreDuration {
        let found: ByteSlice
        do throws(RecordPart.Fault) { found = try part.find(in: record) } catch { throw .missing(error) }
        guard case .json = part else { return try Self.parse(found) }
        guard found.first == UInt8(ascii: "\"") else { throw .noString(Self.shown(found)) }
        let content = JSONText.content(found.part(1..<found.count - 1))
        let delay: Result<CoreDuration, Fault> = content.withUnsafeBufferPointer { content in
            do throws(Fault) { return .success(try Self.parse(content)) } catch { return .failure(error) }
        }
        return try delay.get()
    }

    private static func parse(_ text: ByteSlice) throws(Fault) -> CoreDuration {
        do throws(DurationText.Fault) {
            return try DurationText.parse(text)
        } catch {
            throw .noDuration(shown(text), error)
        }
    }

    /// Returns a part of the record for a message, cut to a readable length.
    private static func shown(_ text: ByteSlice) -> String {
        let limit = 60
        return String(decoding: text.prefix(limit), as: UTF8.self) + (text.count > limit ? "…" : "")
    }
}

extension RecordDelayRule.Fault: CustomStringConvertible {
    /// The part of the reason that other records share.
    var kind: String {
        switch self {
        case .missing(let fault): fault.kind
        case .noString, .noDuration: "unreadable delay"
        }
    }

    /// The reason, for a message.
    var description: String {
        switch self {
        case .missing(let fault): fault.description
        case .noString(let text): "its delay must be a string such as \"500ms\", not \(text)"
        case .noDuration(let text, let fault): "its delay \"\(text)\" \(fault.explanation(of: text))"
        }
    }
}
