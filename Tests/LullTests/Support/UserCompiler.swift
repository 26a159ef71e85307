#if os(Linux)
    import Foundation

    /// Compiles sources as a module of a user's package, and returns what the compiler says.
    ///
    /// - Parameters:
    ///   - sources: The texts of the files, by their names.
    ///   - flags: What the compiler is to do and in which mode, separated by spaces.
    func compileAsUser(_ sources: [String: String], _ flags: String) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, source) in sources {
            try Data(source.utf8).write(to: folder.appendingPathComponent("\(name).swift"))
        }
        let products = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent()
        let compiler = Process()
        compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        var repository = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { repository.deleteLastPathComponent() }
        let map = repository.appendingPathComponent("Sources/CLullSystem/include/module.modulemap").path
        var arguments = ["swiftc", "-whole-module-optimization", "-module-name", "User", "-o", "/dev/null"]
        arguments += ["-I", products.appendingPathComponent("Modules").path, "-Xcc", "-fmodule-map-file=\(map)"]
        arguments += flags.split(separator: " ").map { String($0) }
        arguments += sources.keys.sorted().map { folder.appendingPathComponent("\($0).swift").path }
        compiler.arguments = arguments
        let pipe = Pipe()
        compiler.standardOutput = pipe
        compiler.standardError = pipe
        try compiler.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        compiler.waitUntilExit()
        return String(decoding: output, as: UTF8.self)
    }
#endif
