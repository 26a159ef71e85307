import Allocations
import Foundation

/// The resources of the process. All of them may shrink during a measurement, as what other rows have left goes away.
enum Resources {
    /// The bytes of the heap in use, signed, so that a difference may be negative.
    static var heap: Int64 { Int64(clamping: heap_bytes()) }

    /// The resident bytes of the process; 0 where they are not known.
    static var resident: Int64 {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
        return (Int64(text.split(separator: " ")[1]) ?? 0) * Int64(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// The number of threads; nil where it is not known. Each is a folder in `/proc/self/task`.
    static var threads: Int? {
        var status = stat()
        guard stat("/proc/self/task", &status) == 0 else { return nil }
        return Int(status.st_nlink) - 2
    }

    /// Waits until at most this many bytes of the heap are in use.
    ///
    /// The idioms leave tasks and work items behind, which go away at their old deadlines: no later row must pay for
    /// that, or profit from it.
    static func waitForHeap(_ level: Int64, atMost seconds: Int) {
        let end = boot_nanoseconds() + Int64(seconds) * 1_000_000_000
        while heap > level, boot_nanoseconds() < end { usleep(50_000) }
    }

    /// Waits until no thread has ended for longer than Dispatch keeps an idle one.
    static func waitForThreads() {
        let end = boot_nanoseconds() + 20_000_000_000
        var last = threads
        var since = boot_nanoseconds()
        while boot_nanoseconds() < min(end, since + 6_000_000_000) {
            usleep(100_000)
            let now = threads
            if now != last { (last, since) = (now, boot_nanoseconds()) }
        }
    }
}
