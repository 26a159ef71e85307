internal import CLullCommand
internal import Foundation

/// The processes below this one, including those that have left their process group and session.
///
/// On Linux a process can become the parent of every orphan below it (a subreaper). Killing its children until none is
/// left then reaches all descendants. Elsewhere orphans cannot be found, and killing the process groups has to do.
enum Descendants {
    /// Kills all descendants that can be found, and waits for their end.
    ///
    /// - Parameter groups: Process groups to kill as well, in case the system does not list the children.
    static func killAll(_ groups: some Sequence<pid_t>) {
        for group in groups { kill(-group, SIGKILL) }
        var pause: Int32 = 1
        while true {
            let child = waitpid(-1, nil, WNOHANG)
            if child > 0 {
                pause = 1
                continue
            }
            if child < 0, lull_errno() != EINTR { return }
            // A child's process id is not reused before the child has been waited for.
            let killed = children().reduce(false) { kill($1, SIGKILL) == 0 || $0 }
            // The remaining children may not be killed, or cannot be listed.
            if !killed, pause > 256 { return }
            poll(nil, 0, pause)
            // A process in an uninterruptible system call ends after that call.
            pause = min(2 * pause, 1024)
        }
    }

    /// Returns the children of this process, as far as the system lists them.
    static func children() -> [pid_t] {
        #if os(Linux)
            // If `/proc` belongs to another process namespace, its ids are those of unrelated processes.
            let ours = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self")
            return ours == "\(getpid())" ? listedChildren() ?? childrenAmongAll() : []
        #else
            []
        #endif
    }

    #if os(Linux)
        /// Reads the lists that most kernels keep for each thread; returns nil if this kernel does not.
        static func listedChildren() -> [pid_t]? {
            var children: [pid_t] = []
            for thread in numbers(in: "/proc/self/task") {
                guard let text = contents("/proc/self/task/\(thread)/children") else { return nil }
                children += text.split(separator: " ").compactMap { pid_t($0) }
            }
            return children
        }

        /// Asks every process for its parent.
        static func childrenAmongAll() -> [pid_t] {
            numbers(in: "/proc").filter { process in
                // The name is in parentheses and may contain anything; after it come the state and the parent.
                guard let text = contents("/proc/\(process)/stat"), let end = text.lastIndex(of: ")") else {
                    return false
                }
                return text[end...].split(separator: " ", maxSplits: 3).dropFirst(2).first == "\(getpid())"
            }
        }

        private static func numbers(in path: String) -> [pid_t] {
            ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).compactMap { pid_t($0) }
        }

        private static func contents(_ path: String) -> String? {
            FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
        }
    #endif
}
