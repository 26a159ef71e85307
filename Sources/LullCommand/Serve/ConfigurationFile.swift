internal import CLullCommand

/// A file that is read whole.
enum ConfigurationFile {
    /// Reads a file.
    ///
    /// - Parameter isSecret: Whether no other user of the machine may be able to read it.
    static func read(_ path: Argument, isSecret: Bool) throws(Failure) -> [UInt8] {
        let name = String(cString: path)
        let descriptor = lull_open(path, O_RDONLY)
        guard descriptor >= 0 else { throw Failure.system("cannot be read").of(name) }
        defer { close(descriptor) }
        guard !isSecret || lull_is_file(descriptor) == 0 || lull_is_shared(descriptor) == 0 else {
            throw .failed("\(name) can be read or written by other users: chmod 600 \(name)")
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count <= 1 << 20 {
            let count = CLullCommand.read(descriptor, &buffer, buffer.count)
            if count == 0 { return bytes }
            if count < 0 {
                if lull_errno() == EINTR { continue }
                throw Failure.system("cannot be read").of(name)
            }
            bytes += buffer[..<count]
        }
        throw .badData("\(name) is larger than 1 MiB")
    }

    /// Reads a secret: the file without the newline at its end.
    static func secret(_ path: Argument) throws(Failure) -> [UInt8] {
        var bytes = try read(path, isSecret: true)
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        if bytes.isEmpty { throw .badData("\(String(cString: path)) is empty") }
        return bytes
    }
}
