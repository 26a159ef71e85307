/// A submitted value of a scenario: a JSON string, whole number or null.
public enum ScenarioValue: Codable, Hashable, Sendable {
    /// A string.
    case text(String)
    /// A whole number.
    case number(Int)
    /// `null`: a value like any other.
    case null

    /// Decodes any of the three.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let number = try? container.decode(Int.self) {
            self = .number(number)
        } else {
            self = .text(try container.decode(String.self))
        }
    }

    /// Encodes the value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        case .null: try container.encodeNil()
        }
    }
}
