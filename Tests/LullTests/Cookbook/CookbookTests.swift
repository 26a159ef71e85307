import Foundation
import TestSupport
import Testing

/// The code of the cookbook's pages is that of the tests beside this one, line by line.
@Suite("The cookbook")
struct CookbookTests {
    static let pages = "Sources/Lull/Lull.docc/Cookbook"

    static let names: [String] = {
        let folder = ArticleCode.root.appending(path: pages).path
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return files.filter { $0.hasSuffix(".md") && $0 != "Cookbook.md" }.map { String($0.dropLast(3)) }.sorted()
    }()

    @Test(arguments: names)
    func `every page's code is compiled and run`(page: String) throws {
        let article = try ArticleCode("\(Self.pages)/\(page).md")
        #expect(article.samples.count >= 2)
        #expect(try article.missing(from: "Tests/LullTests/Cookbook/\(page)Tests.swift") == [])
    }

    @Test
    func `the index names every page`() throws {
        let index = try String(
            contentsOf: ArticleCode.root.appending(path: "\(Self.pages)/Cookbook.md"), encoding: .utf8)
        #expect(Self.names.count == 16)
        for name in Self.names { #expect(index.contains("| <doc:\(name)> |") && index.contains("- <doc:\(name)>")) }
    }
}
