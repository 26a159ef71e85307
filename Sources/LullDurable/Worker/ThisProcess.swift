internal import Foundation

extension DurableWorker.Identity {
    /// Creates the identity of a worker of this process.
    package init(id: Int64) {
        self.init(id: id, host: Self.hostName, process: Int64(getpid()))
    }

    private static let hostName: String = {
        var bytes = [CChar](repeating: 0, count: 256)
        // A longer name may be cut without a zero.
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return "localhost" }
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()
}
