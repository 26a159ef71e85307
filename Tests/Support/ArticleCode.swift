public import Foundation

/// The code that an article shows, to be compared with the code that is compiled and run.
public struct ArticleCode {
    /// The samples marked as Swift, in order.
    public let samples: [String]

    /// Reads an article of the documentation.
    ///
    /// - Parameter path: From the root of the package.
    public init(_ path: String) throws {
        let text = try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
        samples = text.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
    }

    /// The samples that do not stand in a source file, line by line, comments and indentation aside. A sample that
    /// begins with a comment naming a framework of other platforms is not expected there.
    ///
    /// - Parameter path: From the root of the package.
    public func missing(from path: String) throws -> [String] {
        let text = try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
        let source = "\n" + Self.code(text) + "\n"
        let expected = samples.filter { !$0.hasPrefix("// SwiftUI") && !$0.hasPrefix("// UIKit") }
        return expected.filter { !source.contains("\n" + Self.code($0) + "\n") }
    }

    /// The root of the package.
    public static let root = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL

    private static func code(_ text: String) -> String {
        let lines = text.components(separatedBy: "\n").map { line in
            line.replacingOccurrences(of: #"(^|\s)//.*"#, with: "", options: .regularExpression)
                .trimmingCharacters(in: .whitespaces)
        }
        return lines.filter { !$0.isEmpty }.joined(separator: "\n")
    }
}
