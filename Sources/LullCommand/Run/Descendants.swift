internal import CLullCommand

/// The processes below this one, also those that have left their group and their session.
///
/// On Linux a process that has asked for it becomes the parent of every orphan below it. So it is enough to kill its children,
/// again and again, until it has none. Elsewhere an orphan cannot be found, and the process groups are all there is.
enum Descendants {
    /// Becomes the parent of orphans.
    static func adopt() {
        lull_adopt_orphans()
    }

    /// Kills all that can be killed, and waits for their end.
    ///
    /// - Parameter groups: Process groups, in case that the system does not tell which children there are.
    static func end(_ groups: some Sequence<pid_t>) {
        for group in groups { kill(-group, SIGKILL) }
        var pause: Int32 = 1
        while true {
            let child = waitpid(-1, nil, WNOHANG)
            if child > 0 {
                pause = 1
                continue
            }
            if child < 0, lull_errno() != EINTR { return }
            // A child's number is not given to another process before the child has been waited for.
            let killed = children().reduce(false) { kill($1, SIGKILL) == 0 || $0 }
            // What is left belongs to somebody else, or cannot be seen.
            if !killed, pause > 256 { return }
            poll(nil, 0, pause)
            // A process that is in the middle of an input or output ends after that.
            pause = min(2 * pause, 1024)
        }
    }

    /// The children of this process, as far as the system tells.
    static func children() -> [pid_t] {
        #if os(Linux)
            // In a container with the process list of another one, the numbers would be those of strangers.
            guard isListOfProcessesOurs() else { return [] }
            return listedChildren() ?? childrenAmongAll()
        #else
            []
        #endif
    }

    #if os(Linux)
        private static func isListOfProcessesOurs() -> Bool {
            var name = [CChar](repeating: 0, count: 16)
            let count = readlink("/proc/self", &name, name.count)
            return name.prefix(max(0, count)).elementsEqual("\(getpid())".utf8.map { CChar(bitPattern: $0) })
        }

        /// From the lists that most kernels keep, one for each thread; nil if this one does not.
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

        /// By asking every process for its parent.
        static func childrenAmongAll() -> [pid_t] {
            let ours = "\(getpid())"
            return numbers(in: "/proc").filter { process in
                guard let text = contents("/proc/\(process)/stat") else { return false }
                // Its name is in parentheses, and may have anything in it; then come its state and its parent.
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
