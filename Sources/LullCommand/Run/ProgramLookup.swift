internal import CLullCommand
internal import LullDurable

/// Finds the program that COMMAND names, as a shell would; `lull` does this once, at the start.
enum ProgramLookup {
    /// Returns the path of a program, from its name and the directories of `PATH`.
    ///
    /// - Throws: A failure of status 127 if there is none, or 126 if it cannot be executed.
    static func find(_ name: [UInt8], searching path: [UInt8]?) throws(Failure) -> [UInt8] {
        let shown = ServerURL.withoutPassword(String(decoding: name, as: UTF8.self))
        guard !name.isEmpty else { throw Failure(status: ExitStatus.notFound, message: "COMMAND is empty") }
        var candidates = [name]
        if !name.contains(UInt8(ascii: "/")) {
            let directories = (path ?? Array("/usr/local/bin:/usr/bin:/bin".utf8))
                .split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            // An empty directory is the current one.
            candidates = directories.map { ($0.isEmpty ? [UInt8(ascii: ".")] : Array($0)) + [UInt8(ascii: "/")] + name }
        }
        var refusal: Int32?
        for candidate in candidates {
            let code = lull_obstacle(candidate.cString)
            if code == 0 { return candidate }
            if code != ENOENT, code != ENOTDIR { refusal = refusal ?? code }
        }
        guard let refusal else { throw Failure(status: ExitStatus.notFound, message: "\(shown): command not found") }
        throw Failure(
            status: ExitStatus.cannotExecute, message: "\(shown): cannot be executed: \(Failure.reason(refusal))")
    }
}
