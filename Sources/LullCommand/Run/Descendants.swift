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
            isListed ? listedChildren() ?? childrenAmongAll() : []
        #else
            []
        #endif
    }

    /// Returns whether a process group has members that have not ended.
    ///
    /// - Parameter isThorough: Whether to look at each process. A process that has ended, and for which its parent does
    ///   not wait, is otherwise taken for a member.
    static func isAlive(_ group: pid_t, isThorough: Bool) -> Bool {
        if kill(-group, 0) != 0 {
            // On Linux, members may have another user. Apple's systems say that of members that have ended.
            #if os(Linux)
                guard lull_errno() == EPERM else { return false }
            #else
                return false
            #endif
        }
        #if os(Linux)
            guard isThorough, isListed else { return true }
            return numbers(in: "/proc").contains { process in
                entry(of: process).map { $0.group == group && !["Z", "X"].contains($0.state) } ?? false
            }
        #else
            return true
        #endif
    }

    #if os(Linux)
        /// Whether `/proc` lists this process. That of another process namespace has the ids of unrelated processes.
        private static var isListed: Bool {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self")) == "\(getpid())"
        }

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
            numbers(in: "/proc").filter { entry(of: $0)?.parent == getpid() }
        }

        private static func entry(of process: pid_t) -> (state: Substring, parent: pid_t, group: pid_t)? {
            // The name is in parentheses and may contain anything.
            guard let text = contents("/proc/\(process)/stat"), let end = text.lastIndex(of: ")") else { return nil }
            let fields = text[end...].split(separator: " ", maxSplits: 4).dropFirst()
            guard fields.count == 4, let parent = pid_t(fields[2]), let group = pid_t(fields[3]) else { return nil }
            return (fields[1], parent, group)
        }

        private static func numbers(in path: String) -> [pid_t] {
            ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).compactMap { pid_t($0) }
        }

        private static func contents(_ path: String) -> String? {
            FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
        }
    #endif
}
