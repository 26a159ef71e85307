import Foundation
import TestSupport
import Testing

/// `docs/faults.md` names a test for each fault. They exist.
@Suite("The page on faults")
struct FaultsTests {
    @Test
    func `names a test in each row, which is in the file that it links to`() throws {
        let page = try Self.text(of: "docs/faults.md")
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| what happened") }
        #expect(rows.count > 15)
        for row in rows {
            #expect(row.contains("](https://github.com/"), "\(row)")
            let links = row.matches(of: /\[([^\[\]]+)\]\(\.\.\/([^)]+)\)/)
            #expect(!links.isEmpty, "\(row)")
            for link in links {
                #expect(Self.names(of: link.1).contains(where: try Self.text(of: "\(link.2)").contains), "\(link.0)")
            }
        }
    }

    /// How a test with a name, or one that begins with it, stands in its file.
    private static func names(of link: Substring) -> [String] {
        guard link.hasPrefix("`") else {
            let words = link.replacing(" ", with: "_")
            return ["func `\(link)", "    `\(link)", "ConformanceCase(\"\(link)", "def test_\(words)"]
        }
        let name = link.trimmingCharacters(in: ["`"])
        return ["struct \(name) {", "{\"id\":\"\(name)\","]
    }

    private static func text(of path: String) throws -> String {
        try String(contentsOf: ArticleCode.root.appending(path: path), encoding: .utf8)
    }
}
