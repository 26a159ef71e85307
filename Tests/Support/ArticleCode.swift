public import Foundation

/// The code that an article, or the comments of a module, show, to be compared with the code that is compiled and run.
public struct ArticleCode {
    /// The samples marked as Swift, in order.
    public let samples: [String]

    /// Reads an article of the documentation.
    ///
    /// - Parameter path: From the root of the package.
    public init(_ path: String) throws {
        let text = try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
        samples = Self.samples(in: text)
    }

    /// Reads the documentation comments of all source files in a folder.
    ///
    /// - Parameter folder: From the root of the package.
    public init(commentsIn folder: String) throws {
        let folder = Self.root.appending(path: folder)
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        let sources = files?.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" } ?? []
        samples = try sources.sorted { $0.path < $1.path }.flatMap { source in
            let lines = try String(contentsOf: source, encoding: .utf8).components(separatedBy: "\n")
            let comments = lines.compactMap { line -> String? in
                let line = line.drop { $0 == " " }
                return line.hasPrefix("///") ? String(line.dropFirst(3)).trimmingPrefix(" ").description : nil
            }
            return Self.samples(in: comments.joined(separator: "\n"))
        }
    }

    private static func samples(in text: String) -> [String] {
        text.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
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
