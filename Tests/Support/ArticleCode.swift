public import Foundation

/// The code samples of an article or of a module's comments, for comparison with the code that tests compile and run.
public struct ArticleCode {
    /// The samples marked as Swift, in order.
    public let samples: [String]

    /// Reads an article of the documentation.
    ///
    /// - Parameter path: The path from the root of the package.
    public init(_ path: String) throws {
        let text = try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
        samples = Self.samples(in: text)
    }

    /// Reads the documentation comments of all source files in a folder.
    ///
    /// - Parameter folder: The path from the root of the package.
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

    /// Returns the samples that a source file does not contain, word by word, without comments. A sample that begins with a
    /// comment that names a framework of other platforms, or the package's manifest, is not expected there.
    ///
    /// - Parameters:
    ///   - path: The path from the root of the package.
    ///   - addition: Code that a test has to add to samples, such as its clock.
    public func missing(from path: String, ignoring addition: String = "") throws -> [String] {
        func words(_ text: String) -> String { Self.words(text.replacingOccurrences(of: addition, with: "")) }
        let source = try words(String(contentsOf: Self.root.appending(path: path), encoding: .utf8))
        let expected = samples.filter { sample in
            !["// SwiftUI", "// UIKit", "// Package.swift"].contains { sample.hasPrefix($0) }
        }
        return expected.filter { !source.contains(words($0)) }
    }

    /// The root of the package.
    public static let root = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL

    private static func words(_ text: String) -> String {
        let code = text.replacingOccurrences(of: #"(?m)(^|\s)//.*$"#, with: "", options: .regularExpression)
        return " " + code.split(whereSeparator: \.isWhitespace).joined(separator: " ") + " "
    }
}
