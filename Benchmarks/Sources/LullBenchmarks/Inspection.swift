import Foundation

// Row: what LullInspection costs a program: one that does not link it, one that does, and one that somebody looks into.

enum Inspection {
    /// The same program, with and without the product. It measures a part of its submits for each line that it is sent.
    private static func program(links: Bool) -> String {
        """
        import Foundation
        import Lull
        \(links ? "import LullInspection\n\nInspector.startIfAsked()" : "")

        @inline(never)
        func burst(_ debouncer: Debouncer<Int, Void>, _ range: Range<Int>) {
            for value in range { debouncer(value) }
        }

        func threadNanoseconds() -> Int {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Int(time.tv_sec) * 1_000_000_000 + Int(time.tv_nsec)
        }

        // Several, as they lie in different places of memory, which changes the time of a submit.
        let debouncers = (0..<16).map { _ in Debouncer<Int, Void>(for: .seconds(36000)) { _ in } }
        // As in most programs, and in the row `building`, there is also one with keys.
        let levels = KeyedThrottler(every: .seconds(1)) { (lamp: Int, level: Double) in print(lamp, level) }
        if CommandLine.arguments.count > 1 { levels.submit(0.5, for: 7) }
        while readLine() != nil {
            let start = threadNanoseconds()
            for debouncer in debouncers { burst(debouncer, 0..<\(submits / 16)) }
            print(Double(threadNanoseconds() - start) / \(submits))
            fflush(nil)
        }

        """
    }

    /// So many take longer than it takes until a reader gets the next snapshot.
    private static let submits = 16_000_000

    /// A program that waits for lines.
    private final class Child {
        private let process = Process()
        private let (input, output) = (Pipe(), Pipe())

        init(_ program: URL, inspectedAt path: String? = nil) throws {
            process.executableURL = program
            if let path { process.environment = ["LULL_INSPECT": path] }
            (process.standardInput, process.standardOutput) = (input, output)
            try process.run()
        }

        deinit {
            try? input.fileHandleForWriting.close()
            process.waitUntilExit()
        }

        /// Returns the nanoseconds of a submit.
        func measure() -> Double {
            try? input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
            let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            return Double(line.trimmingCharacters(in: .whitespacesAndNewlines)) ?? .nan
        }
    }

    static func rows(_ effort: Effort) -> [Line] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "lull-inspection-\(getpid())")
        defer { try? FileManager.default.removeItem(at: folder) }
        do {
            let (bare, linked) = try build(in: folder)
            return try sizes(bare, linked) + times(effort, bare, linked, folder)
        } catch {
            return [Line("not measured: \(error)", Spread(.nan), "")]
        }
    }

    /// Builds both programs in one package, as a package that has the product for a debug build alone would.
    private static func build(in folder: URL) throws -> (bare: URL, linked: URL) {
        for (name, links) in [("bare", false), ("linked", true)] {
            let sources = folder.appending(path: "Sources/\(name)")
            try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
            try Data(program(links: links).utf8).write(to: sources.appending(path: "main.swift"))
        }
        func product(_ name: String) -> String { ".product(name: \"\(name)\", package: \"Lull\")" }
        let manifest = """
            // swift-tools-version: 6.2
            import PackageDescription
            let package = Package(
                name: "app", platforms: [.macOS(.v15)],
                dependencies: [.package(name: "Lull", path: "\(Building.repository.path)")],
                targets: [
                    .executableTarget(name: "bare", dependencies: [\(product("Lull"))]),
                    .executableTarget(name: "linked", dependencies: [\(product("Lull")), \(product("LullInspection"))]),
                ])

            """
        try Data(manifest.utf8).write(to: folder.appending(path: "Package.swift"))
        try Building.run(["swift", "build", "-c", "release", "--package-path", folder.path])
        let products = folder.appending(path: ".build/release")
        return (products.appending(path: "bare"), products.appending(path: "linked"))
    }

    private static func sizes(_ bare: URL, _ linked: URL) throws -> [Line] {
        /// How often a program has the name of the module, which is part of each of its symbols.
        func mentions(_ program: URL) throws -> Double {
            let data = try Data(contentsOf: program, options: .alwaysMapped)
            let name = Data("14LullInspection".utf8)
            var (count, rest) = (0.0, data.startIndex..<data.endIndex)
            while let found = data.range(of: name, in: rest) {
                (count, rest) = (count + 1, found.upperBound..<data.endIndex)
            }
            return count
        }
        guard try mentions(linked) > 0 else {
            throw Building.Failure(description: "no symbol is found where there are some")
        }
        let (without, with) = (try Building.strippedSize(of: bare) / 1000, try Building.strippedSize(of: linked) / 1000)
        return [
            Line("the symbols of one that does not link it", Spread(try mentions(bare)), "", target: .figureAtMost(0)),
            Line(
                "the stripped program, linked, added", Spread(with - without), "kB", against: "not linked",
                Spread(without), target: .figureAtMost(60)),
        ]
    }

    private static func times(_ effort: Effort, _ bare: URL, _ linked: URL, _ folder: URL) throws -> [Line] {
        // The path of a socket is short.
        let paths = ["a", "b"].map { "/tmp/lull-\(getpid())-\($0).sock" }
        let children = [
            try Child(bare), try Child(bare), try Child(linked), try Child(linked, inspectedAt: paths[0]),
            try Child(linked, inspectedAt: paths[1]),
        ]
        // A program listens before it takes its first line.
        for child in children { _ = child.measure() }
        let reader = Process()
        if let path = Command.path {
            reader.executableURL = URL(fileURLWithPath: path)
            reader.arguments = ["top", "--json", paths[1]]
            (reader.standardOutput, reader.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
            try reader.run()
        }
        defer { if reader.isRunning { reader.terminate() } }
        let taken = Interleaved(
            rounds: effort.rounds,
            children.map { child in
                {
                    let time = child.measure()
                    return Sample(wall: time, thread: time, cpu: time, allocations: 0)
                }
            })
        func line(_ subject: String, _ side: Int, _ target: Line.Target = .none) -> Line {
            taken.line(subject, side, against: "not linked", 0, target)
        }
        // The programs end when they are released.
        let hasReader = withExtendedLifetime(children) { reader.isRunning }
        guard Command.path == nil || hasReader else { throw Building.Failure(description: "lull top has ended") }
        return [
            line("a submit, not linked, another process", 1), line("linked", 2, .ratioAtMost(1.1)),
            line("linked and started, without a reader", 3, .ratioAtMost(1.1)),
        ] + (Command.path == nil ? [] : [line("with lull top as a reader", 4, .ratioAtMost(1.1))])
    }
}
