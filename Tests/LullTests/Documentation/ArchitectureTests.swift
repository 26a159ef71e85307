import Foundation
import TestSupport
import Testing

/// `docs/architecture.md` names targets, files, types and functions. They exist.
@Suite("The page on the architecture")
struct ArchitectureTests {
    let page: String

    init() throws {
        page = try Self.text(of: "docs/architecture.md")
    }

    @Test
    func `links to files and folders that exist`() {
        let paths = page.matches(of: /\]\(\.\.\/([^)#]+)/).map { String($0.1) }
        #expect(paths.count > 20)
        for path in paths {
            let url = ArticleCode.root.appending(path: path)
            #expect(FileManager.default.fileExists(atPath: url.path), "\(path)")
        }
    }

    @Test
    func `names types and functions that are declared in the file linked before them`() throws {
        var count = 0
        for paragraph in page.components(separatedBy: "\n\n").flatMap(Self.items) {
            var file: (name: String, source: String)?
            for match in paragraph.matches(of: /\[([^\]]+)\]\(\.\.\/([^)]+\.swift)\)|`([A-Za-z]\w*)(\([\w:]*\))?`/) {
                if let path = match.2 { file = (String(path), try Self.text(of: String(path))) }
                let name = match.3 ?? match.1?.firstMatch(of: /^`(\w+)`$/)?.1
                guard let name, let file else { continue }
                let isType = name.first?.isUppercase == true
                let kinds = isType ? "struct|class|enum|protocol|actor|extension" : "func|var|let|case"
                let declaration = try Regex("\\b(\(kinds)) \(name)\\b")
                #expect(file.source.firstMatch(of: declaration) != nil, "\(file.name) declares no \(name)")
                count += 1
            }
        }
        #expect(count > 30)
    }

    /// The items of a list, or the rows of a table: what is said in one says nothing of the files of another.
    private static func items(of paragraph: String) -> [String] {
        paragraph.replacing(/\n(?=\d+\. |\|)/, with: "\u{0}").split(separator: "\u{0}").map(String.init)
    }

    @Test
    func `describes every target that users and the command have`() throws {
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
