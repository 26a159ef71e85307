import Foundation
import TestSupport
import Testing

/// `docs/architecture.md` names targets, files, types and functions. They exist.
@Suite("The page on the architecture")
struct ArchitectureTests {
    let page: String
    let lines: [String]

    init() throws {
        page = try Self.text(of: "docs/architecture.md")
        lines = page.components(separatedBy: "\n")
    }

    @Test("links to files and folders that exist")
    func links() {
        let paths = page.matches(of: /\]\(\.\.\/([^)#]+)/).map { String($0.1) }
        #expect(paths.count > 20)
        for path in paths {
            let url = ArticleCode.root.appending(path: path)
            #expect(FileManager.default.fileExists(atPath: url.path), "\(path)")
        }
    }

    @Test("names types and functions that are declared in the file beside them")
    func declarations() throws {
        var count = 0
        for line in lines {
            guard let link = line.firstMatch(of: /\]\(\.\.\/([^)]+\.swift)\)/) else { continue }
            let source = try Self.text(of: String(link.1))
            for span in line[link.range.upperBound...].matches(of: /`([A-Za-z]\w*)(\([\w:]*\))?`/) {
                let name = String(span.1)
                let isType = name.first?.isUppercase == true
                let kinds = isType ? "struct|class|enum|protocol|actor|extension|typealias" : "func|var|let|case"
                let declaration = try Regex(name == "init" ? #"\binit\("# : #"\b(\#(kinds)) \#(name)\b"#)
                #expect(source.contains(declaration), "\(link.1) declares no \(name)")
                count += 1
            }
        }
        #expect(count > 20)
    }

    @Test("describes every target that users and the command have")
    func targets() throws {
        let manifest = try Self.text(of: "Package.swift")
        let names = manifest.matches(of: /\.(?:target|executableTarget|systemLibrary)\(\s*name: "(\w+)"([^)]*)/)
            .filter { !$0.2.contains("Tests/") }.map { String($0.1) }
        #expect(names.count > 8)
        for name in names {
            #expect(page.contains(name), "\(name)")
        }
    }

    private static func text(of path: String) throws -> String {
        try String(contentsOf: ArticleCode.root.appending(path: path), encoding: .utf8)
    }
}
