import Foundation
import TestSupport
import Testing

/// `docs/decisions` has one short record for each decision.
@Suite("The records of decisions")
struct DecisionTests {
    let records: [String: String]
    let index: String

    init() throws {
        let folder = ArticleCode.root.appending(path: "docs/decisions")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".md") }
        func text(_ name: String) throws -> String {
            try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        }
        index = try text("README.md")
        records = try names.filter { $0 != "README.md" }.reduce(into: [:]) { $0[$1] = try text($1) }
    }

    @Test
    func `are few and short, and have the same parts`() {
        #expect((10...25).contains(records.count))
        for (name, text) in records {
            #expect(text.split(whereSeparator: \.isWhitespace).count <= 250, "\(name)")
            let parts = text.matches(of: #/(?m)^\*\*(\w+)\.\*\* /#).map { String($0.1) }
            #expect(parts == ["Context", "Decision", "Alternative", "Measured"], "\(name)")
        }
    }

    @Test
    func `are in the index, under their titles`() {
        let entries = index.matches(of: #/(?m)^- \[(.+)\]\((.+)\)$/#).map { (title: String($0.1), name: String($0.2)) }
        #expect(entries.map(\.name).sorted() == records.keys.sorted())
        for entry in entries {
            #expect(records[entry.name]?.hasPrefix("# \(entry.title)\n") == true, "\(entry.name)")
        }
    }
}
