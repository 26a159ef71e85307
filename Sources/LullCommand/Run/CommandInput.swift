internal import CLullCommand
internal import LullCore

/// Makes the standard input of a command: a nameless file that has all of it before the command starts.
///
/// A pipe would have to be filled while the command runs. If this program were killed meanwhile, the command would read a part of
/// the input followed by an ordinary end of file.
enum CommandInput {
    /// Smaller records are written together, in chunks of this size.
    private static let chunkSize = 1 << 16

    /// Makes the file of an execution.
    ///
    /// - Returns: A descriptor positioned at its start.
    static func file(_ batch: Batch<Record>, terminator: UInt8) throws(Failure) -> Int32 {
        let file = lull_nameless_file()
        guard file >= 0 else { throw .system("the file for its standard input cannot be created") }
        var offset = 0
        var text: [UInt8] = []
        do throws(Failure) {
            for record in batch.values {
                if text.count + record.count > Self.chunkSize { try write(&text, to: file, at: &offset) }
                if record.count > Self.chunkSize {
                    try write(record, to: file, at: &offset)
                } else {
                    text += record
                }
                text.append(terminator)
            }
            try write(&text, to: file, at: &offset)
        } catch {
            close(file)
            throw error
        }
        return file
    }

    private static func write(_ text: inout [UInt8], to file: Int32, at offset: inout Int) throws(Failure) {
        try write(text, to: file, at: &offset)
        text.removeAll(keepingCapacity: true)
    }

    /// Writes without moving the descriptor's position.
    private static func write(_ bytes: [UInt8], to file: Int32, at offset: inout Int) throws(Failure) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                pwrite(file, $0.baseAddress.map { $0 + done }, $0.count - done, off_t(offset))
            }
            if count < 0, lull_errno() == EINTR { continue }
            guard count > 0 else { throw .system("its standard input cannot be written") }
            done += count
            offset += count
        }
    }
}
