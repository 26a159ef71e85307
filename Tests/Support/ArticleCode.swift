public import Foundation

/// The code samples of an article or of a module's comments, for comparison with the code that tests compile and run.
public struct ArticleCode {
    /// The samples marked as Swift, in order.
    public let samples: [String]
    /// Where each of them is: a file, and the line of its first line.
    private let places: [String]

    /// Reads an article of the documentation.
    ///
    /// - Parameter path: The path from the root of the package.
    public init(_ path: String) throws {
        let text = try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
        let found = Self.samples(in: text.components(separatedBy: "\n"))
        samples = found.map(\.code)
        places = found.map { "\(path):\($0.line + 1)" }
    }

    /// Reads the documentation comments of all source files in a folder.
    ///
    /// - Parameter folder: The path from the root of the package.
    public init(commentsIn folder: String) throws {
        let folder = Self.root.appending(path: folder)
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        let sources = files?.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" } ?? []
        let found = try sources.sorted { $0.path < $1.path }.flatMap { source in
            let lines = try String(contentsOf: source, encoding: .utf8).components(separatedBy: "\n")
            let comments = lines.map { line in
                let line = line.drop { $0 == " " }
                return line.hasPrefix("///") ? line.dropFirst(3).trimmingPrefix(" ").description : ""
            }
            let path = source.path.replacing(Self.root.path + "/", with: "")
            return Self.samples(in: comments).map { (code: $0.code, place: "\(path):\($0.line + 1)") }
        }
        samples = found.map(\.code)
        places = found.map(\.place)
    }

    /// Returns the samples in the lines of a text, and the index of the first line of each.
    private static func samples(in lines: [String]) -> [(code: String, line: Int)] {
        lines.indices.filter { lines[$0] == "```swift" }.map { start in
            let code = lines[(start + 1)...].prefix { !$0.hasPrefix("```") }
            return (code.map { $0 + "\n" }.joined(), start + 1)
        }
    }

    /// Returns a message about each sample that a source file does not contain, word by word, without comments: where
    /// the sample is, where it belongs, and its first line that is not there. A sample that begins with a comment that
    /// names a framework of other platforms, or the package's manifest, is not expected there. What a sample imports,
    /// the file imports.
    ///
    /// - Parameters:
    ///   - path: The path from the root of the package.
    ///   - addition: Code that a test has to add to samples, such as its clock.
    public func missing(from path: String, ignoring addition: String = "") throws -> [String] {
        func words(_ text: String) -> String { Self.words(text.replacingOccurrences(of: addition, with: "")) }
        let source = try words(String(contentsOf: Self.root.appending(path: path), encoding: .utf8))
        return zip(samples, places).compactMap { sample, place in
            let isElsewhere = ["// SwiftUI", "// UIKit", "// Package.swift"].contains { sample.hasPrefix($0) }
            let all = sample.components(separatedBy: "\n")
            let lines = all.filter { !$0.hasPrefix("import ") }
            let isImported = all.allSatisfy { !$0.hasPrefix("import ") || source.contains(words($0)) }
            let isThere = isImported && source.contains(words(lines.joined(separator: "\n")))
            guard !isElsewhere, !isThere else { return nil }
            let end = lines.indices.first { !source.contains(words(lines[...$0].joined(separator: "\n"))) } ?? 0
            return """
                \(place): this sample is not in \(path), where a test must contain it word by word \
                (space and comments aside), from its line \(end + 1) on: \
                \(lines[end].trimmingCharacters(in: .whitespaces))
                """
        }
    }

    /// The root of the package.
    public static let root = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL

    private static func words(_ text: String) -> String {
        let code = text.replacingOccurrences(of: #"(?m)(^|\s)//.*$"#, with: "", options: .regularExpression)
        return " " + code.split(whereSeparator: \.isWhitespace).joined(separator: " ") + " "
    }
}
