/// The arguments of COMMAND with the placeholders `{key}`, `{value}`, `{count}` and `{edge}`; `{{key}}` is a literal `{key}`.
///
/// Inserted values are not searched for placeholders, and other braces stay as they are.
struct CommandTemplate {
    /// A placeholder.
    enum Detail: String, CaseIterable {
        case key
        case value
        case count
        case edge
    }

    private enum Piece {
        case text([UInt8])
        case detail(Detail)
    }

    private let arguments: [[Piece]]

    init(_ arguments: [[UInt8]]) {
        let placeholders = Detail.allCases.map { (detail: $0, name: Array("{\($0.rawValue)}".utf8)) }
        let literals = Detail.allCases.map { Array("{{\($0.rawValue)}}".utf8) }
        self.arguments = arguments.map { argument in
            var pieces: [Piece] = []
            var text: [UInt8] = []
            var rest = argument[...]
            while let byte = rest.first {
                if let literal = literals.first(where: { rest.starts(with: $0) }) {
                    text += literal[1..<literal.count - 1]
                    rest = rest.dropFirst(literal.count)
                } else if let placeholder = placeholders.first(where: { rest.starts(with: $0.name) }) {
                    pieces += [.text(text), .detail(placeholder.detail)]
                    text = []
                    rest = rest.dropFirst(placeholder.name.count)
                } else {
                    text.append(byte)
                    rest = rest.dropFirst()
                }
            }
            return pieces + [.text(text)]
        }
    }

    /// Returns the placeholders in an argument.
    func details(in argument: Int) -> [Detail] {
        arguments[argument].compactMap { if case .detail(let detail) = $0 { detail } else { nil } }
    }

    /// Returns the arguments with the placeholders replaced.
    func filled(_ details: (Detail) -> [UInt8]) -> [[UInt8]] {
        arguments.map { pieces in
            pieces.reduce(into: []) { argument, piece in
                switch piece {
                case .text(let text): argument += text
                case .detail(let detail): argument += details(detail)
                }
            }
        }
    }
}
