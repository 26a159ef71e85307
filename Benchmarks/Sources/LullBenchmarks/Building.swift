import Allocations
import Foundation

// Row: what depending on `Lull` alone adds to a cold build, against the same package without it.

enum Building {
    static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The cost of a build, and the size of the program without its symbols.
    private struct Cost {
        var cpu: Double
        var bytes: Double
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    static func rows(_ effort: Effort) -> [Line] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "lull-building-\(getpid())")
        defer { try? FileManager.default.removeItem(at: folder) }
        do {
            let (without, with) = (folder.appending(path: "without"), folder.appending(path: "with"))
            try write(
                "func save(_ text: String) { print(text) }\nsave(\"draft\")\n", dependencies: "",
                targetDependencies: "",
                to: without)
            try write(
                """
                import Lull

                let save = Debouncer(for: .seconds(1)) { (text: String) in print(text) }
                let levels = KeyedThrottler(every: .seconds(1)) { (lamp: Int, level: Double) in print(lamp, level) }
                save("draft")
                levels.submit(0.5, for: 7)

                """, dependencies: ".package(name: \"Lull\", path: \"\(repository.path)\")",
                targetDependencies: ".product(name: \"Lull\", package: \"Lull\")", to: with)
            // The very first build also fills caches for the later ones.
            _ = try build(without, "debug")
            var lines: [Line] = []
            for configuration in ["release", "debug"] {
                var bare: [Cost] = []
                var full: [Cost] = []
                for _ in 0..<(effort.rounds > 5 ? 3 : 1) {
                    bare.append(try build(without, configuration))
                    full.append(try build(with, configuration))
                }
                func line(_ subject: String, _ unit: String, per: Double, _ part: (Cost) -> Double) -> Line {
                    let added = zip(full, bare).map { (part($0) - part($1)) / per }
                    let reference = Spread(bare.map { part($0) / per })
                    return Line(
                        "\(subject), \(configuration), added", Spread(added), unit, against: "without Lull", reference)
                }
                lines.append(line("a cold build", "s", per: 1, \.cpu))
                lines.append(line("the stripped program", "kB", per: 1000, \.bytes))
            }
            return lines
        } catch {
            return [Line("not measured: \(error)", Spread(.nan), "")]
        }
    }

    private static func write(
        _ main: String, dependencies: String, targetDependencies: String, to package: URL
    ) throws {
        let sources = package.appending(path: "Sources/app")
        try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
        try Data(main.utf8).write(to: sources.appending(path: "main.swift"))
        let manifest = """
            // swift-tools-version: 6.2
            import PackageDescription
            let package = Package(
                name: "app", platforms: [.macOS(.v15)], dependencies: [\(dependencies)],
                targets: [.executableTarget(name: "app", dependencies: [\(targetDependencies)])])

            """
        try Data(manifest.utf8).write(to: package.appending(path: "Package.swift"))
    }

    private static func build(_ package: URL, _ configuration: String) throws -> Cost {
        let products = package.appending(path: ".build")
        try? FileManager.default.removeItem(at: products)
        let before = children_cpu_nanoseconds()
        try run(["swift", "build", "-c", configuration, "--package-path", package.path])
        let cpu = Double(children_cpu_nanoseconds() - before) / 1e9
        return Cost(cpu: cpu, bytes: try strippedSize(of: products.appending(path: "\(configuration)/app")))
    }

    /// Returns the bytes of a program without its symbols.
    static func strippedSize(of program: URL) throws -> Double {
        let copy = program.appendingPathExtension("stripped")
        try? FileManager.default.removeItem(at: copy)
        try FileManager.default.copyItem(at: program, to: copy)
        try run(["strip", copy.path])
        return Double(try FileManager.default.attributesOfItem(atPath: copy.path)[.size] as? Int ?? 0)
    }

    static func run(_ words: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(description: "\(words.joined(separator: " ")) ended with \(process.terminationStatus)")
        }
    }
}
