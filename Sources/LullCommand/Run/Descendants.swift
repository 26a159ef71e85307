internal import CLullCommand

/// The processes below this one, including those that have left their process group and session.
///
/// On Linux a process can become the parent of every orphan below it (a subreaper). Killing its children until none is left then
/// reaches all descendants. Elsewhere orphans cannot be found, and killing the process groups has to do.
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
            guard procIsOurs() else { return [] }
            return listedChildren() ?? childrenAmongAll()
        #else
            []
        #endif
    }

    #if os(Linux)
        private static func procIsOurs() -> Bool {
            var name = [CChar](repeating: 0, count: 16)
            let count = readlink("/proc/self", &name, name.count)
            return name.prefix(max(0, count)).elementsEqual("\(getpid())".utf8.map { CChar(bitPattern: $0) })
        }

        /// Reads the lists that most kernels keep for each thread; returns nil if this kernel does not.
        static func listedChildren() -> [pid_t]? {
            var children: [pid_t] = []
            for thread in numbers(in: "/proc/self/task") {
                guard let text = contents("/proc/self/task/\(thread)/children") else { return nil }
                children += text.split(separator: UInt8(ascii: " ")).compactMap {
                    pid_t(String(decoding: $0, as: UTF8.self))
                }
            }
            return children
        }

        /// Asks every process for its parent.
        static func childrenAmongAll() -> [pid_t] {
            let ours = "\(getpid())"
            return numbers(in: "/proc").filter { process in
                guard let text = contents("/proc/\(process)/stat") else { return false }
                // The name is in parentheses and may contain anything; after it come the state and the parent.
                guard let end = text.lastIndex(of: UInt8(ascii: ")")) else { return false }
                let fields = text[(end + 1)...].split(separator: UInt8(ascii: " "), maxSplits: 2)
                return fields.count > 1 && String(decoding: fields[1], as: UTF8.self) == ours
            }
        }

        private static func numbers(in path: String) -> [pid_t] {
            guard let folder = opendir(path) else { return [] }
            defer { closedir(folder) }
            var numbers: [pid_t] = []
            while let entry = readdir(folder) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                if let number = pid_t(name) { numbers.append(number) }
            }
            return numbers
        }

        private static func contents(_ path: String) -> [UInt8]? {
            let file = lull_open(path, O_RDONLY)
            guard file >= 0 else { return nil }
            defer { close(file) }
            var bytes: [UInt8] = []
            var piece = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(file, &piece, piece.count)
                if count < 0, lull_errno() == EINTR { continue }
                guard count > 0 else { return count == 0 ? bytes : nil }
                bytes += piece[..<count]
            }
        }
    #endif
}
