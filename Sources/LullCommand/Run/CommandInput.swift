internal import CLullCommand
internal import LullCore

/// Makes the standard input of a command: a nameless file that has all of it before the command starts.
///
/// A pipe would have to be filled while the command runs. If this program were killed meanwhile, the command would read
/// a part of the input followed by an ordinary end of file.
enum CommandInput {
    private static let chunkSize = 1 << 16

    /// - Returns: A descriptor positioned at its start.
    static func file(_ batch: Batch<Record>, terminator: UInt8) throws(Failure) -> Int32 {
        let file = lull_nameless_file()
        guard file >= 0 else { throw .system("the file for its standard input cannot be created") }
        var output = OutputBuffer(file)
        do throws(Failure) {
            for record in batch.values {
                output.bytes += record
                output.bytes.append(terminator)
                if output.bytes.count > chunkSize { _ = try output.drain() }
            }
            _ = try output.drain()
        } catch {
            close(file)
            throw error.of("its standard input")
        }
        lseek(file, 0, SEEK_SET)
        return file
    }
}
